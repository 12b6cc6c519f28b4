/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of the profile that programs/profile_wide makes: what of a tree of more
// than a screenful is to be seen first.
"use strict";
{
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + "many paths: " + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const rows = () => [...$("table").tBodies[0].rows];
	const names = () => rows().map(row => row.cells[0].textContent);
	const path = ["main", "phase 13", "part b", "kernel"];
	const hot = () => rows().filter(row => row.classList.contains("hot")).map(row => row.cells[0].textContent);

	test("the hottest path is named", [...$("hottest").querySelectorAll("button")].map(b =>
		b.textContent), ["main 100.0%", "phase 13 4.5%", "part b 2.3%", "kernel 2.3%"]);
	test("its end is chosen", $("chosen").textContent, path.join(" > "));
	test("it is open in the tree, and nothing else is", [hot(), names().length,
		names().filter(name => name.startsWith("part")), $("shown").textContent],
		[path, 24, ["part b", "part a"], "24 of 62 paths"]);
	test("it is in the window", [$("hottest"), ...boxes()].every(e => {
		const box = e.getBoundingClientRect();
		return box.top >= 0 && box.bottom <= innerHeight;
	}), true);
	function boxes() {
		return [...document.querySelectorAll(".box.hot")];
	}
	test("it is in the chart", boxes().map(box => box.textContent), path);
	test("a visit that has not ended has the time of those below it at least", [rows()[0].cells[2].textContent,
		$("legend").textContent], ["\u2265 19.90 ms",
		"? some visits have not ended; \u2265 at least: some visits have not ended; - not counted"]);
	$("open").click();
	test("all can be opened", [names().length, $("open").textContent], [62, "close all"]);
	$("open").click();
	test("and closed but for that path", [names().length, hot()], [24, path]);
	rows().find(row => row.cells[0].textContent === "phase 2").querySelector(".toggle").click();
	test("one opens", names().length, 26);
	[...document.querySelectorAll("#chart .box")].filter(box => box.textContent === "part a")[3].click();
	test("what is chosen in the chart is opened in the tree", names().filter(name =>
		name.startsWith("part")).length, 6);
	$("filter").value = "phase 7 > part";
	$("filter").dispatchEvent(new Event("input"));
	test("what is filtered has its full path", names(), ["main > phase 7 > part a", "main > phase 7 > part b"]);
	test("no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
