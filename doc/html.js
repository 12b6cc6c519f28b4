/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The search of the pages. The index (index.js) is loaded at the first search. All words must be
 * in a section. A word in its heading, or the name of a call, counts more than one in its text.
 */
(function () {
	"use strict";

	var most = 40;
	var form = document.getElementById("search");
	var input = form.elements.q;
	var found = document.getElementById("found");
	var article = document.querySelector("article");
	var loading = false;

	function element(name, text) {
		var made = document.createElement(name);

		if (text)
			made.textContent = text;
		return made;
	}

	/* What an entry is worth for these words; 0: not found. */
	function worth(entry, words) {
		var title = entry[0].toLowerCase(), heading = entry[2].toLowerCase();
		var text = entry[3].toLowerCase();
		var sum = 0;

		for (var i = 0; i < words.length; i++) {
			var points = heading === words[i] ? 100 : 0;

			if (title.split("(")[0] === words[i])
				points += 50;
			if (heading.indexOf(words[i]) >= 0)
				points += 20;
			if (title.indexOf(words[i]) >= 0)
				points += 5;
			if (text.indexOf(words[i]) >= 0)
				points += 1 + Math.min(text.split(words[i]).length - 1, 5);
			if (!points)
				return 0;
			sum += points;
		}
		return sum;
	}

	/* The words of a section around the first that was found, which are marked. */
	function excerpt(text, words) {
		var line = element("small");
		var lower = text.toLowerCase();
		var at = -1;

		for (var i = 0; i < words.length && at < 0; i++)
			at = lower.indexOf(words[i]);
		var begin = Math.max(0, at - 60), word = at < 0 ? "" : words[i - 1];

		line.append((begin ? "..." : "") + text.slice(begin, Math.max(at, 0)));
		if (word)
			line.append(element("mark", text.slice(at, at + word.length)));
		line.append(text.slice(Math.max(at, 0) + word.length, begin + 180));
		return line;
	}

	function show() {
		var words = input.value.toLowerCase().replace(/\(\)$/, "").split(/\s+/);

		words = words.filter(function (word) { return word; });
		found.hidden = !words.length;
		article.hidden = !found.hidden;
		if (found.hidden || !window.PERFMON_INDEX)
			return;
		var hits = window.PERFMON_INDEX.map(function (entry) {
			return { entry: entry, worth: worth(entry, words) };
		}).filter(function (hit) { return hit.worth; });

		hits.sort(function (a, b) { return b.worth - a.worth; });
		found.textContent = "";
		found.append(element("h1", hits.length ? hits.length + " found" : "Nothing found"));
		var list = element("ol");

		hits.slice(0, most).forEach(function (hit) {
			var item = element("li"), link = element("a"), entry = hit.entry;

			link.href = entry[1];
			link.textContent = entry[0] +
				(entry[2] && entry[2] !== entry[0] ? ": " + entry[2] : "");
			link.addEventListener("click", function () { input.value = ""; show(); });
			item.append(link, element("br"), excerpt(entry[3], words));
			list.append(item);
		});
		found.append(list);
	}

	function search() {
		if (!window.PERFMON_INDEX && !loading) {
			var script = element("script");

			loading = true;
			script.src = "index.js";
			script.onload = show;
			document.head.append(script);
		}
		show();
	}

	input.addEventListener("input", search);
	form.addEventListener("submit", function (event) {
		var first = found.querySelector("a");

		event.preventDefault();
		if (first)
			first.click();
	});
	document.addEventListener("keydown", function (event) {
		if (event.key === "/" && document.activeElement !== input) {
			event.preventDefault();
			input.focus();
		} else if (event.key === "Escape") {
			input.value = "";
			show();
		}
	});

	var asked = new URLSearchParams(location.search).get("q");

	if (asked) {
		input.value = asked;
		search();
	}
})();
