! SPDX-License-Identifier: LGPL-2.1-or-later
! Stands in for LIKWID's module of this name. A module is the compiler's own, so compile this file with
! the program.
module likwid
	implicit none
	interface
		subroutine likwid_markerInit()
		end subroutine
		subroutine likwid_markerThreadInit()
		end subroutine
		subroutine likwid_markerNextGroup()
		end subroutine
		subroutine likwid_markerClose()
		end subroutine
		subroutine likwid_markerRegisterRegion(regionTag)
			character(*), intent(in) :: regionTag
		end subroutine
		subroutine likwid_markerStartRegion(regionTag)
			character(*), intent(in) :: regionTag
		end subroutine
		subroutine likwid_markerStopRegion(regionTag)
			character(*), intent(in) :: regionTag
		end subroutine
		subroutine likwid_markerResetRegion(regionTag)
			character(*), intent(in) :: regionTag
		end subroutine
		subroutine likwid_markerGetRegion(regionTag, nr_events, events, time, count)
			character(*), intent(in) :: regionTag
			integer, intent(inout) :: nr_events
			double precision, dimension(*), intent(inout) :: events
			double precision, intent(inout) :: time
			integer, intent(inout) :: count
		end subroutine
	end interface
end module
