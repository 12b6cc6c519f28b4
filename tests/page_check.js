/* SPDX-License-Identifier: LGPL-2.1-or-later */
// Runs at the end of a page of perfmon report --html, in a browser, and leaves TAP in an
// element of its own. The page is of programs/odd_names; the suite has put "caught", a list
// of errors, in front of everything else.
"use strict";
{
	const results = [];
	const test = (name, run) => {
		let why = "";
		try {
			why = run();
		} catch (error) {
			why = String(error);
		}
		results.push((why ? "not ok - " : "ok - ") + name + (why ? ": " + why : ""));
	};
	const differ = (got, want) => JSON.stringify(got) === JSON.stringify(want) ? ""
		: JSON.stringify(got) + ", not " + JSON.stringify(want);
	const $ = id => document.getElementById(id);
	const data = JSON.parse($("data").textContent);
	const names = () => [...$("table").tBodies[0].rows].map(row => row.cells[0].textContent);
	const heading = name => [...$("table").tHead.rows[0].cells].find(cell =>
		cell.textContent.startsWith(name));
	const click = name => heading(name).querySelector("button").click();
	const boxes = () => [...document.querySelectorAll("#chart [role=treeitem]")];
	const press = key => document.activeElement.dispatchEvent(
		new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
	const width = box => parseFloat(box.style.width);
	// Of all reports together, by region: all names are different here.
	const sum = (name, member) => data.reduce((total, report) => total + report.nodes.filter(
		node => node.region === name).reduce((n, node) => n + node[member], 0), 0);
	const all = [...new Set(data.flatMap(report => report.nodes.map(node => node.region)))];
	const by = (member, way) => [...all].sort((a, b) => way * (sum(a, member) - sum(b, member)));

	test("the page's script ran to its end", () =>
		differ(document.documentElement.dataset.ready, "yes"));
	test("all paths are in the table", () => differ(names().sort(), [...all].sort()));
	test("names are text", () => names().includes("<\/script><script>document.title='owned'<\/script>") &&
		names().includes("a;b \"quoted\" & <b>bold</b>") && names().includes("bad\ufffd utf") &&
		names().includes("gr\u00f6\u00dfe \u65e5\u672c") ? "" : names().join());
	test("names are not executed", () => document.title.includes("owned") ? document.title
		: differ([document.scripts.length, document.querySelectorAll("b").length], [4, 0]));
	test("the table begins with most exclusive time", () =>
		differ([names(), heading("exclusive").getAttribute("aria-sort")],
			[by("exclusive_ns", -1), "descending"]));
	test("a click sorts, another turns the order", () => {
		click("visits");
		const down = names().map(name => sum(name, "visits"));
		click("visits");
		const up = names().map(name => sum(name, "visits"));
		return differ([down, up], [[...down].sort((a, b) => b - a), [...down].sort((a, b) => a - b)]) ||
			differ(heading("visits").getAttribute("aria-sort"), "ascending") ||
			differ(heading("exclusive").getAttribute("aria-sort"), "none");
	});
	test("names sort upwards first", () => {
		click("region");
		// All but the first are below it.
		const below = names().slice(1);
		return differ(names()[0], "plain") || differ(below, [...below].sort());
	});
	test("the filter filters", () => {
		$("filter").value = "QUOTED";
		$("filter").dispatchEvent(new Event("input"));
		const some = names();
		$("filter").value = "";
		$("filter").dispatchEvent(new Event("input"));
		return differ([some, names().length], [["a;b \"quoted\" & <b>bold</b>"], all.length]);
	});
	test("the chart is as wide as the times are long", () => {
		const [top, ...rest] = boxes();
		for (const box of rest) {
			const share = 100 * sum(box.textContent, "time_ns") / sum("plain", "time_ns");
			if (Math.abs(width(box) - share) > 0.01)
				return box.textContent + ": " + width(box) + ", not " + share;
		}
		return differ([top.textContent, width(top)], ["plain", 100]) || (rest.length ? "" : "empty");
	});
	test("boxes lie beside each other", () => {
		const rest = boxes().slice(1).sort((a, b) => parseFloat(a.style.left) - parseFloat(b.style.left));
		return rest.every((box, i) => !i || parseFloat(box.style.left) >
			parseFloat(rest[i - 1].style.left) + width(rest[i - 1]) - 1e-3) ? "" : "overlap";
	});
	test("keys move, zoom in and out", () => {
		boxes()[0].focus();
		press("ArrowDown");
		const child = document.activeElement.textContent;
		press("ArrowRight");
		const second = document.activeElement.textContent;
		press("ArrowLeft");
		press("Enter");
		const zoomed = boxes().map(box => [box.textContent, width(box)]);
		press("Escape");
		press("ArrowUp");
		const by_time = by("time_ns", -1);
		return differ([child, second, zoomed, boxes().length > 1, document.activeElement.textContent],
			[by_time[1], by_time[2], [[by_time[1], 100]], true, "plain"]);
	});
	test("one box takes the tab key, and all have names", () =>
		differ(boxes().filter(box => box.tabIndex === 0).length, 1) ||
		(boxes().every(box => box.getAttribute("aria-label").startsWith(box.textContent)) ? "" : "no name"));
	test("the histogram has all visits", () => {
		const cells = [...$("times").querySelectorAll("tr")].map(row => Number(row.cells[1].textContent));
		return differ(cells.reduce((a, b) => a + b, 0), sum("plain", "visits"));
	});
	test("threads and ranks are there, with their imbalance", () => {
		const times = data.map(report => report.nodes[0].time_ns);
		const mean = times.reduce((a, b) => a + b, 0) / times.length;
		return differ([$("threads").querySelectorAll("tr").length, $("ranks").querySelectorAll("tr").length],
			[2 * data.length, data.length]) || ($("ranks").querySelector("h3").textContent.includes(
			" " + (100 * (Math.max(...times) / mean - 1)).toFixed(1) + "%") ? ""
			: $("ranks").querySelector("h3").textContent);
	});
	test("a row of the table chooses", () => {
		[...$("table").querySelectorAll("td button")].find(b => b.textContent === "__proto__").click();
		return differ($("chosen").textContent, "plain > __proto__") ||
			differ(document.querySelectorAll(".box.chosen").length, 1);
	});
	test("another event is another chart", () => {
		const before = boxes().map(width);
		$("metric").value = "1";
		$("metric").dispatchEvent(new Event("change"));
		const after = boxes().map(width);
		$("metric").value = "0";
		$("metric").dispatchEvent(new Event("change"));
		return differ($("metric").options[1].text, data[0].events[0].name) ||
			(differ(before, after) ? "" : "the same") || differ(boxes().map(width), before);
	});
	test("light and dark", () => {
		const back = () => getComputedStyle(document.body).backgroundColor;
		const first = back();
		$("theme").click();
		const second = back();
		$("theme").click();
		return first !== second && back() === first ? "" : first + " " + second;
	});
	test("nothing was loaded", () => differ(performance.getEntriesByType("resource").length, 0));
	test("no error was reported", () => differ(caught, []));
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
