/* SPDX-License-Identifier: LGPL-2.1-or-later */
// As page_check.js, of two threads in "solve", of which one waits most of the time, in "(idle)".
"use strict";
{
	const {report, parts: [part]} = JSON.parse(document.getElementById("data").textContent);
	const results = [];
	const test = (name, got, want) => {
		const same = JSON.stringify(got) === JSON.stringify(want);
		results.push((same ? "ok - " : "not ok - ") + "waits: " + name + (same ? ""
			: ": " + JSON.stringify(got) + ", not " + JSON.stringify(want)));
	};
	const $ = id => document.getElementById(id);
	const choose = name => [...$("table").querySelectorAll("td button:not(.toggle)")].find(
		button => button.textContent === name).click();
	const heading = () => $("threads").querySelector("h3").textContent;
	const of = (thread, name) => (thread.nodes.find(([, region]) => part.regions[region] === name) || [0, 0, 0])[2];
	const work = part.threads.map(thread => of(thread, "solve") - of(thread, "(idle)"));
	const percent = (100 * (Math.max(...work) / ((work[0] + work[1]) / 2) - 1)).toFixed(1);

	test("a thread waited", part.threads.filter(thread => of(thread, "(idle)")).length, 1);
	choose("solve");
	test("the imbalance is that of the work", heading(),
		"Threads without their waits: the slowest takes " + percent + "% more than the mean");
	const most = Math.max(...work);
	const widths = [...$("threads").querySelectorAll(".bars tr .bar")].map(bar => parseFloat(bar.style.width));
	test("and the bars", widths.every((width, i) => Math.abs(width - 100 * work[i] / most) < .01), true);
	choose("part");
	test("nothing is said of waits where there are none", heading().startsWith("Threads: the slowest takes "), true);
	test("no error was reported", caught, []);
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
