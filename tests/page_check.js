/* SPDX-License-Identifier: LGPL-2.1-or-later */
// Runs at the end of a page of perfmon report --html, in a browser, and leaves TAP in an
// element of its own. The page is of programs/odd_names in three ranks; the suite has put
// "caught", a list of errors, in front of everything else, and "wanted_width" of the window.
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
	const {report, parts} = JSON.parse($("data").textContent);
	const nodes = report.nodes;
	const names = () => [...$("table").tBodies[0].rows].map(row => row.cells[0].textContent);
	const heading = name => [...$("table").tHead.rows[0].cells].find(cell =>
		cell.textContent.startsWith(name));
	const click = name => heading(name).querySelector("button").click();
	const boxes = () => [...document.querySelectorAll("#chart [role=treeitem]")];
	const press = key => document.activeElement.dispatchEvent(
		new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
	const width = box => parseFloat(box.style.width);
	// By region: all names are different here, and all but "plain" are below it.
	const find = name => nodes.find(node => node.region === name);
	const value = (name, member) => find(name)[member];
	const path = name => name === "plain" ? name : "plain > " + name;
	const all = nodes.map(node => node.region);
	const by = (member, way) => [...all].sort((a, b) => way * (value(a, member) - value(b, member)));
	const sorts = () => [...$("table").tHead.rows[0].cells].map(cell => cell.getAttribute("aria-sort"))
		.filter(sort => sort !== "none");
	// Of what is not inside of a box that scrolls or cuts off.
	const overflow = () => {
		const wide = [...document.body.querySelectorAll("*")].filter(e => !e.closest("script, option") &&
			!e.parentElement.closest(".scroll, #chart") && e.getBoundingClientRect().right > innerWidth + 1);
		return differ([document.documentElement.scrollWidth > innerWidth,
			wide.map(e => e.tagName + " " + e.id + " " + e.className)], [false, []]);
	};

	test("the page's script ran to its end", () =>
		differ(document.documentElement.dataset.ready, "yes"));
	test("all paths are in the table", () => differ(names().sort(), [...all].sort()));
	test("names are text", () => names().includes("<\/script><script>document.title='owned'<\/script>") &&
		names().includes("a;b \"quoted\" & <b>bold</b>") && names().includes("bad\ufffd utf") &&
		names().includes("gr\u00f6\u00dfe \u65e5\u672c") ? "" : names().join());
	test("names are not executed", () => document.title.includes("owned") ? document.title
		: differ([document.scripts.length, document.querySelectorAll("b").length], [4, 0]));
	test("the hottest path is the first to be seen, chosen, and pointed out in both trees", () => {
		const end = nodes.reduce((a, b) => b.exclusive_ns > a.exclusive_ns ? b : a).region;
		const want = end === "plain" ? ["plain"] : ["plain", end];
		const got = [...$("hottest").querySelectorAll("button")];
		return differ([got.map(b => b.textContent.replace(/ [0-9.]+%$/, "")), got[0].textContent,
			$("chosen").textContent, boxes().filter(b => b.classList.contains("hot")).map(b => b.textContent),
			[...document.querySelectorAll("tr.hot")].map(row => row.cells[0].textContent)],
			[want, "plain 100.0%", path(end), want, want]) ||
			($("hot_text").textContent.startsWith(end + " has ") ? "" : $("hot_text").textContent) ||
			(got[0].getBoundingClientRect().bottom < 250 ? "" : "far down");
	});
	test("marks of times are no marks of visits", () => differ([...$("table").tBodies[0].rows].filter(row =>
		row.cells[1].querySelector(".mark")).length, 0));
	test("what measuring took is said", () => /^Measuring took (less than 1|about [0-9]+|[0-9]+ to [0-9]+)% of the time/.test(
		$("cost").textContent) && report.cost ? "" : $("cost").textContent);
	test("the table begins as a tree, by inclusive time", () =>
		differ([names(), sorts(), $("tree").disabled], [by("time_ns", -1), [], true]));
	test("sorted the table is flat, with full paths; a third click is the tree again", () => {
		const tree = names();
		click("visits");
		const down = names(), way = sorts();
		click("visits");
		const up = names(), other_way = sorts();
		click("visits");
		const visits = list => list.map(name => value(name.replace(/^plain > /, ""), "visits"));
		const sorted = [...nodes.map(node => node.visits)].sort((a, b) => a - b);
		return differ([visits(up), visits(down), [...up].sort(), way, other_way, names(), sorts()],
			[sorted, [...sorted].reverse(), all.map(path).sort(), ["descending"], ["ascending"], tree, []]);
	});
	test("a button makes it a tree, too", () => {
		const tree = names();
		click("exclusive");
		const flat = names();
		$("tree").click();
		return differ([flat, names(), sorts()], [by("exclusive_ns", -1).map(path), tree, []]);
	});
	test("names sort upwards first", () => {
		click("region");
		const got = names();
		click("region");
		click("region");
		return differ(got, all.map(path).sort());
	});
	test("regions close and open", () => {
		const tree = names(), toggle = () => document.querySelector("tr.hot .toggle");
		const before = toggle().getAttribute("aria-expanded");
		toggle().click();
		const closed = names(), after = toggle().getAttribute("aria-expanded");
		$("open").click();
		return differ([before, closed, after, names()], ["true", ["plain"], "false", tree]);
	});
	test("the filter filters", () => {
		$("filter").value = "QUOTED";
		$("filter").dispatchEvent(new Event("input"));
		const some = names();
		$("filter").value = "";
		$("filter").dispatchEvent(new Event("input"));
		return differ([some, names().length], [["plain > a;b \"quoted\" & <b>bold</b>"], all.length]);
	});
	test("the chart is as wide as the times are long", () => {
		const [top, ...rest] = boxes();
		for (const box of rest) {
			const share = 100 * value(box.textContent, "time_ns") / value("plain", "time_ns");
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
		return differ(cells.reduce((a, b) => a + b, 0), value($("chosen").textContent, "visits"));
	});
	test("threads and ranks are there, with their imbalance", () => {
		const times = parts.map(part => part.nodes.find(n => part.regions[n[1]] === "plain")[2]);
		const mean = times.reduce((a, b) => a + b, 0) / times.length;
		return differ([$("threads").querySelectorAll(".bars tr").length, $("ranks").querySelectorAll("tr").length],
			[2 * parts.length, parts.length]) || ($("ranks").querySelector("h3").textContent.includes(
			" " + (100 * (Math.max(...times) / mean - 1)).toFixed(1) + "%") ? ""
			: $("ranks").querySelector("h3").textContent);
	});
	const choose_row = name =>
		[...$("table").querySelectorAll("td button")].find(b => b.textContent === name).click();
	test("a row of the table chooses", () => {
		choose_row("__proto__");
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
		return differ($("metric").options[1].text, report.events[0].name) ||
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
	test("metrics of several profiles are those of the sum", () => {
		const node = find("plain"), columns = [...$("table").tHead.rows[0].cells].map(c => c.textContent);
		const row = [...$("table").tBodies[0].rows].find(r => r.cells[0].textContent === "plain");
		const want = node.counts[0].value / node.time_ns;
		choose_row("plain");
		return differ([Number(row.cells[columns.indexOf("busy")].firstChild.textContent), parts.length],
			[Number(want.toPrecision(4)), 3]) || ($("facts").textContent.includes("(task-clock / time_ns)") ? ""
			: $("facts").textContent);
	});
	test("the window is as wide as it should be", () => differ(innerWidth, wanted_width));
	test("nothing is wider than the window", () => {
		let why = overflow();
		for (const name of ["region", "busy", "task-clock"]) {
			click(name);
			why = why || overflow();
		}
		$("tree").click();
		for (const name of all) {
			choose_row(name);
			why = why || overflow();
		}
		return why;
	});
	test("the table scrolls in its own box", () => $("paths").scrollWidth > $("paths").clientWidth ||
		innerWidth > 1000 ? "" : "it does not");
	test("text is large enough to be read", () => differ([...document.body.querySelectorAll("*")].filter(e =>
		e.textContent && parseFloat(getComputedStyle(e).fontSize) < 11).map(e => e.tagName), []));
	test("nothing is there that no person would write", () => differ(slips(), []));
	test("nothing was loaded", () => differ(performance.getEntriesByType("resource").length, 0));
	test("no error was reported", () => differ(caught, []));
	const pre = document.createElement("pre");
	pre.id = "results";
	pre.textContent = "\n" + results.join("\n") + "\n";
	document.body.append(pre);
}
