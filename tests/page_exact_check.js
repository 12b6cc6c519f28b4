/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of two processes that programs/profile_exact makes: counted exactly by
// translation, so that nothing on the page is a time.
"use strict";
{
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + "exact: " + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const rows = () => [...$("table").tBodies[0].rows].map(row => [...row.cells].slice(0, 5).map(cell => cell.textContent));
	const text = () => document.body.innerText;

	test("no column is a time", [...$("table").tHead.rows[0].cells].map(cell => cell.textContent),
		["region", "visits", "share", "exclusive share", "exact::instructions", "exact::loads",
			"exact::instructions exclusive", "exact::loads exclusive"]);
	test("paths are sorted by instructions", rows().map(row => row[0].replace(/[^a-z]/g, "")), ["run", "step", "io"]);
	test("shares are of instructions", rows()[1].slice(2), ["95.2%", "95.2%", "12000"]);
	test("the hottest path is theirs", [...$("hottest").querySelectorAll("button")].map(b => b.textContent),
		["run 100.0%", "step 95.2%"]);
	test("its sentence, too", $("hot_text").textContent,
		"step has 95.2% of exact::instructions in itself, more than any other path: 12000");
	test("boxes are as wide as instructions", [...$("metric").options].map(o => o.textContent),
		["exact::instructions", "exact::loads"]);
	test("processes differ in instructions", $("ranks").querySelector("h3").textContent,
		"Processes: the most is 33.3% more than the mean");
	test("what is outside of regions is told", text().includes("outside regions 800 of 13400"), true);
	test("how it was counted is told", text().includes("times are not those of the machine"), true);
	test("no time is there", /[0-9] (ns|us|ms|s)\b/.test(text()), false);
	test("nothing is there that no person would write", slips(), []);
	test("no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
