/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of examples/openmp with three threads, which was noted to have n=128: the visit of
// "solve" is the main thread's, and two others have adopted its path.
"use strict";
{
	const {report, parts: [part]} = JSON.parse(document.getElementById("data").textContent);
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + "team: " + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const choose = name => [...$("table").querySelectorAll("td button:not(.toggle)")].find(
		button => button.textContent === name).click();
	const node = report.nodes.find(n => n.region === "solve");
	// By the names of its bars, of the widths that these have.
	const widths = () => [...$("threads").querySelectorAll(".bars tr")].map(row =>
		[row.cells[0].textContent, parseFloat(row.querySelector(".bar").style.width)]);
	const want = name => {
		const number = part.regions.indexOf(name);
		const times = part.threads.map(thread => [thread, thread.nodes.find(([, region]) => region === number)[2]]);
		const most = Math.max(...times.map(([, ns]) => ns));
		return times.map(([thread, ns]) => ["thread " + thread.tid + " " + thread.name, 100 * ns / most]);
	};
	const near = (got, wanted) => got.length === wanted.length && got.every(([name, width], i) =>
		name === wanted[i][0] && Math.abs(width - wanted[i][1]) < .01);

	test("nothing is there that no person would write", slips(), []);
	test("what was said of the run is in the head",
		[...$("head").querySelectorAll("dd")].some(dd => dd.textContent === "n=128"), true);
	test("three threads have the path", part.threads.length, 3);
	for (const name of ["solve", "smooth"]) {
		choose(name);
		test("a bar for each thread that has the path, also without a visit: " + name,
			near(widths(), want(name)) || [widths(), want(name)], true);
		test("and the mean across them: " + name, $("threads").querySelectorAll(".mean").length, 3);
	}
	choose("solve");
	const mean = parseFloat($("threads").querySelector(".mean").style.left);
	test("which is where it should be",
		Math.abs(mean - 100 * node.time_ns / 3 / (node.thread_max_ticks * part.tick_ns)) < .01, true);
	const columns = () => [...$("steps").querySelectorAll(".steps div")].map(column => parseFloat(column.style.height));
	test("there are no steps of a path that keeps none", columns(), []);
	choose("smooth");
	const kept = report.steps[0].steps.filter(step => step.visits && step.time_ns > 0);
	const means = kept.map(step => step.time_ns / step.visits), longest = Math.max(...means);
	test("a column for each step, as high as it took", columns().length > 0 && columns().length === means.length &&
		columns().every((height, i) => Math.abs(height - 100 * means[i] / longest) < .01), true);
	test("and the highest is named", $("steps").textContent.includes(
		"The highest is visit " + kept[means.indexOf(longest)].first + ": "), true);
	test("no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
