/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of what most pages are of: one process of programs/top_work, which visits
// "outer" four times, five times in a thread and twice in another. The second page has each
// thread, the third one thread and three ENDs without a BEGIN.
"use strict";
{
	const {report, parts: [part]} = JSON.parse(document.getElementById("data").textContent);
	const page = report.lost.unmatched_ends ? "loss" : part.threads.length > 2 ? "threads" : "ordinary";
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + page + ": " + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const table = id => [...$(id).querySelectorAll("table:not(.bars) tr")].map(row =>
		[...row.cells].map(cell => cell.textContent));
	// Of a column, by its heading.
	const column = (id, name) => {
		const [head, ...rows] = table(id);
		return rows.map(row => row[head.indexOf(name)]);
	};
	const sum = values => values.reduce((a, b) => a + b, 0);
	const choose = name => [...$("table").querySelectorAll("td button:not(.toggle)")].find(
		button => button.textContent === name).click();
	const of = {ordinary: [11, [4, 7], 2], threads: [11, [4, 5, 2], 3], loss: [5, [5], 0]}[page];

	test("nothing is there that no person would write", slips(), []);
	test("nothing is lost but what is", [...$("notes").children].map(note => note.textContent), page === "loss"
		? ["lost: 2 ENDs without a BEGIN: 'slove', inside outer",
			"lost: 1 END without a BEGIN: 'slove', outside of all regions"] : []);
	test("visits are those of the program", [...$("table").tBodies[0].rows].map(row =>
		row.cells[0].textContent + row.cells[1].textContent),
		["outer" + of[0], "inner" + (page === "loss" ? 8 : 22)]);
	test("the head counts threads", $("what").textContent.includes(page === "loss" ? ", 1 thread," : ", 3 threads,"), true);
	test("a table has the threads", table("all_threads").length, of[2] ? of[2] + 1 : 0);
	if (of[2]) {
		choose("outer");
		test("by name", column("all_threads", "thread"), page === "ordinary"
			? ["thread " + report.pid + " top_work", "2 ended threads"]
			: part.threads.map(thread => "thread " + thread.tid + " " + thread.name));
		test("by what became of them", column("all_threads", "state"),
			["lived to the end"].concat(of[1].slice(1).map(() => "ended")));
		test("with their visits", column("all_threads", "outermost visits"), of[1].map(String));
		test("of a region, too", column("threads", "visits"), of[1].map(String));
		choose("inner");
		test("and of what is nested", column("threads", "visits"), of[1].map(visits => String(2 * visits)));
		const outer = report.nodes.find(node => node.region === "outer");
		const of_threads = part.threads.map(thread => thread.nodes.find(([parent]) => !parent));
		test("their values add up to the report's", [sum(of_threads.map(node => node[2])),
			...report.events.map((event, i) => sum(of_threads.map(node => node[4][i])))].map(Math.round),
			[Math.round(outer.time_ns), ...outer.counts.map(count => Math.round(count.value))]);
		test("and are in the table", column("all_threads", "page-faults"), of_threads.map(node => String(node[4][1])));
		test("times are known", column("all_threads", "in regions").every(text => /^[0-9.]+ [num]?s$/.test(text)), true);
	}
	test("no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
