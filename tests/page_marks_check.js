/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of the profiles that programs/profile_marks makes: of rank 0 or of both.
// What the page says of numbers that are not whole, not known or not to be trusted.
"use strict";
{
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const both = JSON.parse($("data").textContent).parts.length > 1;
	const which = both ? "two processes" : "one process";
	const headings = [...$("table").tHead.rows[0].cells].map(cell =>
		cell.textContent.replace(/ [\u25b2\u25bc]$/, ""));
	const row = name => [...$("table").tBodies[0].rows].find(r => r.cells[0].textContent === name);
	const cells = (name, ...columns) => columns.map(column =>
		row(name).cells[headings.indexOf(column)].textContent);
	const facts = name => {
		row(name).querySelector("button:not(.toggle)").click();
		return [...$("facts").children].map(e => e.textContent).join("|");
	};
	const notes = $("notes").textContent;

	test(which + ": exclusive values have marks of their own",
		cells("outer", "instructions:u", "instructions:u exclusive"),
		both ? ["2.000G", "300 *"] : ["1.000G", "150 *"]);
	test(which + ": what was not measured is no 0", [cells("none", "visits", "inclusive",
		"exclusive", "share", "mean", "max", "instructions:u"), facts("none").includes("0 ns"),
		facts("none").includes("|time|- @")],
		[[both ? "80 @" : "40 @", "- @", "- @", "", "", "", "-"], false, true]);
	test(which + ": what was measured in part has its error", cells("some", "inclusive",
		"instructions:u"), both ? ["100.0 us +-?@", "1.000M +-?@"]
		: ["100.0 us +-143%", "1.000M +-143%"]);
	test(which + ": its mean is of what was measured", cells("some", "mean", "stddev", "max"),
		["2.500 us", "1.291 us", "4.000 us"]);
	test(which + ": each mark is explained", ["+-N% estimated", "@ some visits are missing",
		"* too short", "& not counted", "? some visits"].filter(text => $("legend").textContent.includes(text)),
		["+-N% estimated", "@ some visits are missing", "* too short"].concat(both ? ["& not counted"] : []));
	test(which + ": a mark says what it means", row("none").querySelector(".mark").title, "some visits are missing");
	if (both) {
		test("a sum that leaves a process out is marked", [cells("outer", "cycles:u"),
			cells("outer", "instructions:u"), facts("outer").includes("cycles:u|1.000M & with")],
			[["1.000M &"], ["2.000G"], true]);
		test("and says which", notes.includes(
			"cycles:u was not counted in rank 1: the sums cover the others"), true);
		// Of rank 0: instructions of both by cycles of one would be 2222.
		test("metrics are of the processes that have all of their events",
			[cells("inner", "ipc"), facts("inner").includes("ipc|1111 & with nested regions")],
			[["1111 &"], true]);
		facts("some");
		test("a process that measured nothing is no 0", [...$("ranks").querySelectorAll("tr")].map(
			tr => tr.cells[1].textContent), ["100.0 us", "-"]);
	} else {
		test("metrics are there", [headings.includes("ipc"), cells("inner", "ipc")],
			[true, ["1111"]]);
	}
	test(which + ": nothing is there that no person would write", slips(), []);
	test(which + ": no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
