// What report_page.py asks of a report, as functions of one object: it runs this text in the page.
window.look = (() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const seen = (element) => element.getBoundingClientRect().width > 0;

  // "rgb(1, 2, 3)", "rgba(…)" and "color(srgb 0.1 0.2 0.3)" as [red, green, blue, opacity].
  const parse = (text) => {
    const n = (text.match(/-?[\d.e-]+/g) ?? []).map(Number), unit = text.startsWith("color(srgb") ? 255 : 1;
    return [n[0] * unit, n[1] * unit, n[2] * unit, n[3] ?? 1];
  };
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  // WCAG's contrast of two colours.
  const contrast = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };

  // Whether a mark of the chart is drawn: of some size, and of a colour that can be told from what is behind
  // it.
  const inked = (chart) => [...chart.querySelectorAll("path:not(.grid, .line, .rule, .leader), circle, rect")].some((mark) => {
    const box = mark.getBoundingClientRect(), { fill, stroke } = getComputedStyle(mark);
    const told = (colour) => colour !== "none" && contrast(parse(colour), ground(chart.parentElement)) > 1.5;
    return box.width + box.height > 2 && (told(fill) || told(stroke));
  });

  return {
    settle: () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))),
    openAll: () => all("#page details").map((details) => { details.open = true; }).length,
    // How many charts there are, and the names of those without ink.
    charts: () => {
      const shown = all("svg.chart, svg.strip").filter(seen);
      return [shown.length, shown.filter((chart) => !inked(chart)).map((chart) => chart.getAttribute("aria-label"))];
    },
    chartsOfRuns: () => all(".run svg.chart, .study svg.chart").filter(seen).length,
    // Texts of less contrast than 4.5.
    faint: () => {
      const search = document.getElementById("search"), faint = [];
      for (const element of all("body *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !seen(element) || !element.checkVisibility()) continue;
        const style = getComputedStyle(element), colour = element instanceof SVGElement ? style.fill : style.color;
        const told = contrast(parse(colour), ground(element));
        if (told < 4.5) faint.push(`${element.outerHTML.slice(0, 60)} ${told.toFixed(2)}`);
      }
      const hint = parse(getComputedStyle(search, "::placeholder").color);
      return !search.hidden && contrast(hint, ground(search)) < 4.5 ? [...faint, "placeholder"] : faint;
    },
    // Charts and controls that a listener would not know.
    nameless: () => {
      const charts = all("svg:not([aria-hidden])").filter((s) => !s.getAttribute("aria-label") || s.getAttribute("role") !== "img");
      const mute = all("button, input, a, summary").filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label")));
      return [...charts, ...mute].map((e) => e.outerHTML.slice(0, 100));
    },
    beyond: (edge) => all("#page *").filter((e) => !e.closest(".wide, svg, nav") && e.getBoundingClientRect().right > edge)
      .slice(0, 3).map((e) => e.outerHTML.slice(0, 120)),
    // Of each chapter the colours of its rows in order, without the identities, and whether these are folded.
    order: () => all(".chapter").map((chapter) => [...chapter.querySelectorAll(":scope > .claim .verdict .badge")]
      .map((badge) => badge.classList[1])),
    folded: () => [all(".identities:not([open])").length, all(".identities .claim").length],
    opened: () => all(".claim[open] > summary").map((summary) => summary.id),
    chips: () => all(".chip").filter(seen).length,
    // Links of the navigation without a place, and places without a link.
    contents: () => [all("nav a").filter((link) => !document.getElementById(link.hash.slice(1))).length,
      all(".chapter, .study").filter(({ id }) => !document.querySelector(`nav a[href="#${id}"]`)).length],
    // What is no claim: runs and trainings.
    beside: () => all(".study, .appendix, #comparison").filter(seen).length,
    claims: () => all("details.claim:not([hidden]) > summary").map((summary) => summary.id),
    focus: () => document.activeElement.id || document.activeElement.dataset.lang || document.activeElement.textContent,
    // Of the claim that has the focus: its id, whether it is open and in the window, its small and large
    // charts, parts.
    claim: () => {
      const e = document.activeElement, row = e.closest("details"), box = e.getBoundingClientRect();
      const count = (selector) => row.querySelectorAll(selector).length;
      return [e.id, row.open, box.top >= 0 && box.bottom <= innerHeight, count("summary svg"), count(".body svg.chart"), count(".part")];
    },
    command: () => document.activeElement.closest(".command")?.querySelector("code").textContent ?? "",
    reading: () => document.activeElement.querySelector(".reading")?.textContent ?? "",
    english: () => all(".prose, .badge, .chapter h2[lang=zh], .lead").map((e) => e.textContent.trim())
      .filter((text) => text && !/[\u4e00-\u9fff]/.test(text)),
    named: () => all(".comparison:first-child .name").filter(seen).map((e) => e.textContent).join(" "),
    ground: () => getComputedStyle(document.body).backgroundColor,
  };
})();
