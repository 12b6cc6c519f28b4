/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heat spreads over a plate in strips: each rank of an MPI job has one, and exchanges its
 * edges with its neighbours in each step. Later ranks have more rows, so that the report
 * shows an imbalance.
 *
 *   mpicc -O2 ranks.c -o ranks $(pkg-config --cflags --libs perfmon)
 *   mkdir run
 *   PERFMON_PROFILE=run/ mpirun -n 4 ./ranks [steps]
 *   perfmon report run
 */
#include <mpi.h>
#include <perfmon/perfmon.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS 512
#define ROWS	64 /* of the first rank; each further one has half as many more */

static int above, below, rows;

/* Sends the outer rows of this strip to the neighbours, and receives theirs. */
static void exchange(double (*grid)[COLUMNS])
{
	PERFMON_REGION_SCOPE("exchange");
	MPI_Sendrecv(grid[1], COLUMNS, MPI_DOUBLE, above, 0, grid[rows + 1], COLUMNS,
		     MPI_DOUBLE, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(grid[rows], COLUMNS, MPI_DOUBLE, below, 0, grid[0], COLUMNS,
		     MPI_DOUBLE, above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void sweep(double (*grid)[COLUMNS], double (*next)[COLUMNS])
{
	PERFMON_REGION_SCOPE("sweep");
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j < COLUMNS - 1; j++)
			next[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] +
					     grid[i][j - 1] + grid[i][j + 1]);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 200;
	double(*grid)[COLUMNS], (*next)[COLUMNS], heat = 0, sum = 0;
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	above = rank ? rank - 1 : MPI_PROC_NULL;
	below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
	rows = ROWS + rank * ROWS / 2;
	grid = calloc((size_t)rows + 2, sizeof(*grid));
	next = calloc((size_t)rows + 2, sizeof(*next));
	if (!grid || !next)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (int i = 0; i < rows + 2; i++)
		grid[i][0] = next[i][0] = 100;

	PERFMON_REGION_BEGIN("solve");
	for (int step = 0; step < steps; step++) {
		double(*old)[COLUMNS] = grid;

		exchange(grid);
		sweep(grid, next);
		grid = next;
		next = old;
	}
	PERFMON_REGION_END("solve");

	for (int i = 1; i <= rows; i++)
		for (int j = 1; j < COLUMNS - 1; j++)
			sum += grid[i][j];
	PERFMON_REGION_BEGIN("reduce");
	MPI_Reduce(&sum, &heat, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	PERFMON_REGION_END("reduce");
	if (rank == 0)
		printf("heat %g after %d steps\n", heat, steps);
	MPI_Finalize();
	free(grid);
	free(next);
	return 0;
}
