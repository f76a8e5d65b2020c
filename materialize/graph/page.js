"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("canvas");
  const svg = canvas.querySelector("svg.graph");
  const details = document.getElementById("details");
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  const boxes = new Map([...svg.querySelectorAll(".box")].map((b) => [b.dataset.id, b]));
  const wires = [...svg.querySelectorAll(".wire")];
  const scripts = new Map(data.scripts.map((s) => [s.name, s]));

  // Assets that one script writes are drawn in its box.
  const writers = new Map();
  for (const s of data.scripts) for (const w of s.writes) writers.set(w, (writers.get(w) || new Set()).add(s.name));
  const boxOf = (asset) => {
    const by = writers.get(asset);
    if (!by) return "source:" + asset;
    return by.size === 1 ? "script:" + [...by][0] : "asset:" + asset;
  };

  // ---- Moving and enlarging: the picture's viewBox is what is seen of it.
  const whole = svg.viewBox.baseVal;
  const full = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
  let view = { ...full };
  const show = () => svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  const fit = () => {
    const r = canvas.getBoundingClientRect();
    // A small graph is not blown up, a large one is shown whole.
    const k = Math.max(1, full.w / r.width, full.h / r.height);
    view = { w: r.width * k, h: r.height * k };
    view.x = full.x + (full.w - view.w) / 2;
    view.y = full.y + (full.h - view.h) / 2;
    show();
  };
  const at = (x, y) => {
    const r = canvas.getBoundingClientRect();
    return { x: view.x + ((x - r.left) / r.width) * view.w, y: view.y + ((y - r.top) / r.height) * view.h };
  };
  const zoom = (k, x, y) => {
    const r = canvas.getBoundingClientRect();
    if (x === undefined) { x = r.left + r.width / 2; y = r.top + r.height / 2; }
    const w = Math.min(Math.max(view.w * k, 120), 8 * Math.max(full.w, r.width));
    k = w / view.w;
    const p = at(x, y);
    view = { x: p.x - (p.x - view.x) * k, y: p.y - (p.y - view.y) * k, w, h: view.h * k };
    show();
  };
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 250), e.clientX, e.clientY);
  }, { passive: false });
  const pointers = new Map();
  let moved = false;
  canvas.addEventListener("pointerdown", (e) => {
    if (e.target.closest(".tools, .legend")) return;
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    moved = false;
  });
  canvas.addEventListener("pointermove", (e) => {
    const p = pointers.get(e.pointerId);
    if (!p) return;
    const r = canvas.getBoundingClientRect();
    const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, q]) => q);
    if (others.length === 1) {
      const gap = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) || 1;
      const q = others[0];
      zoom(gap(p, q) / gap({ x: e.clientX, y: e.clientY }, q), q.x, q.y);
    } else if (moved || Math.hypot(e.clientX - p.x, e.clientY - p.y) > 4) {
      if (!moved) canvas.setPointerCapture(e.pointerId);
      view.x -= ((e.clientX - p.x) / r.width) * view.w;
      view.y -= ((e.clientY - p.y) / r.height) * view.h;
      show();
    } else {
      return;
    }
    moved = true;
    canvas.classList.add("moving");
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => {
    pointers.delete(e.pointerId);
    canvas.classList.remove("moving");
  });
  document.getElementById("in").onclick = () => zoom(1 / 1.3);
  document.getElementById("out").onclick = () => zoom(1.3);
  document.getElementById("fit").onclick = fit;
  window.addEventListener("resize", fit);

  // ---- What is lit. Without a choice everything is as bright as ever.
  const light = (ids, pairs) => {
    svg.classList.toggle("choosing", ids !== null);
    for (const [id, b] of boxes) b.classList.toggle("lit", ids !== null && ids.has(id));
    for (const w of wires) w.classList.toggle("lit", ids !== null && pairs(w.dataset.from, w.dataset.to));
  };
  const along = (start, from, to) => {
    const seen = new Set([start]);
    const pairs = new Set();
    const queue = [start];
    while (queue.length) {
      const id = queue.pop();
      for (const w of wires) {
        if (w.dataset[from] !== id) continue;
        pairs.add(w.dataset.from + "\n" + w.dataset.to);
        if (!seen.has(w.dataset[to])) { seen.add(w.dataset[to]); queue.push(w.dataset[to]); }
      }
    }
    return { seen, pairs };
  };

  // ---- Columns: a column of an asset, by "asset\ncolumn".
  const made = new Map(); // column -> [{script, column}]
  const feeds = new Map(); // column -> [{script, asset, column}]
  const key = (asset, column) => asset + "\n" + column.toLowerCase();
  const push = (map, k, v) => map.set(k, [...(map.get(k) || []), v]);
  for (const c of data.columns) for (const column of c.columns) {
    push(made, key(c.asset, column.name), { script: c.script, column });
    for (const f of column.from) push(feeds, key(f.asset, f.column), { script: c.script, asset: c.asset, column: column.name });
  }
  const lightColumn = (asset, column) => {
    const ids = new Set([boxOf(asset)]);
    const pairs = new Set();
    const step = (from, script) => {
      ids.add(from).add("script:" + script);
      pairs.add(from + "\n" + "script:" + script);
    };
    const walk = (next) => {
      const seen = new Set();
      const queue = [[asset, column]];
      while (queue.length) {
        const [a, c] = queue.pop();
        if (seen.has(key(a, c))) continue;
        seen.add(key(a, c));
        next(a, c, queue);
      }
    };
    walk((a, c, queue) => {
      for (const m of made.get(key(a, c)) || []) for (const f of m.column.from) {
        step(boxOf(f.asset), m.script);
        queue.push([f.asset, f.column]);
      }
    });
    walk((a, c, queue) => {
      for (const f of feeds.get(key(a, c)) || []) {
        step(boxOf(a), f.script);
        queue.push([f.asset, f.column]);
      }
    });
    light(ids, (from, to) => pairs.has(from + "\n" + to));
  };

  // ---- Details. Text is only ever set as text.
  const el = (tag, text, cls) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (cls) e.className = cls;
    return e;
  };
  const section = (title, children) => {
    if (!children.length) return;
    details.append(el("h3", title));
    const ul = el("ul");
    for (const c of children) { const li = el("li"); li.append(c); ul.append(li); }
    details.append(ul);
  };
  const jump = (text, id) => {
    if (!boxes.has(id)) return el("span", text);
    const b = el("button", text);
    b.type = "button";
    b.onclick = () => choose(id);
    return b;
  };
  const columnList = (asset, columns) => columns.map((c) => {
    const d = el("div", undefined, "column");
    const b = el("button", c.name || "(unnamed)");
    b.type = "button";
    b.onclick = () => {
      for (const x of details.querySelectorAll(".column")) x.classList.toggle("chosen", x === d);
      lightColumn(asset, c.name);
    };
    d.append(b);
    if (c.annotated) d.append(" ", el("span", "annotated", "chip"));
    for (const f of c.from) d.append(el("div", "← " + f.asset + " . " + f.column, "from"));
    if (!c.known) d.append(el("div", c.from.length ? "← and others that are not known" : "← not known", "from"));
    return d;
  });
  const scriptDetails = (s) => {
    details.append(el("h2", s.name), el("p", s.file, "sub"));
    if (s.comment) details.append(el("p", s.comment));
    details.append(el("p", [s.strategy, s.partition].filter(Boolean).join(" · "), "sub"));
    if (s.status.text) details.append(el("p", s.status.text.split(", " + s.status.error)[0]));
    if (s.status.error) details.append(el("p", s.status.error, "error"));
    if (s.tags.length) {
      const p = el("p");
      for (const t of s.tags) p.append(el("span", t, "chip"));
      details.append(p);
    }
    section("Writes", s.writes.map((w) => jump(w, boxOf(w))));
    section("Reads", s.reads.map((r) => jump(r + (s.writes.includes(r) ? " (its own)" : ""), boxOf(r))));
    const starts = s.triggers.map((t) => (t.asset ? jump(t.asset, boxOf(t.asset)) : el("span", t.native)));
    if (s.schedule) starts.unshift(el("span", "schedule " + s.schedule));
    section(s.trigger_all ? "Starts on all of" : "Starts on", starts);
    section("Fed by", s.upstream.map((n) => jump(n, "script:" + n)));
    section("Feeds", s.downstream.map((n) => jump(n, "script:" + n)));
    section("Fresh within", s.freshness ? [el("span", s.freshness)] : []);
    section("Tests", s.tests.map((t) => el("span", t)));
    for (const c of data.columns.filter((c) => c.script === s.name)) section("Columns", columnList(c.asset, c.columns));
  };
  const nodeDetails = (n) => {
    details.append(el("h2", n.name), el("p", n.kind, "sub"));
    const out = data.edges.filter((e) => e.from === n.id).map((e) => e.to.slice("script:".length));
    section(n.kind === "trigger" ? "Starts" : "Read by", out.map((name) => jump(name, "script:" + name)));
    section("Written by", data.edges.filter((e) => e.to === n.id).map((e) => e.from.slice("script:".length)).map((name) => jump(name, "script:" + name)));
    const used = new Set();
    for (const c of data.columns) for (const col of c.columns) for (const f of col.from) if (f.asset === n.name) used.add(f.column);
    const known = data.columns.filter((c) => c.asset === n.name);
    if (known.length) for (const c of known) section("Columns of " + c.script, columnList(c.asset, c.columns));
    else section("Columns that are read", columnList(n.name, [...used].sort().map((name) => ({ name, from: [], known: true }))));
  };
  const overview = () => {
    details.append(el("h2", "Scripts"), el("p", "Click a box for its details, a column for where it comes from and goes to. Drag to move, turn the wheel to enlarge.", "sub"));
    section("In the order of runs", data.levels.flat().map((n) => jump(n, "script:" + n)));
  };
  let chosen = null;
  const choose = (id) => {
    chosen = id;
    for (const [k, b] of boxes) b.classList.toggle("chosen", k === id);
    details.replaceChildren();
    details.scrollTop = 0;
    if (id === null) { light(null); overview(); return; }
    const node = data.nodes.find((n) => n.id === id);
    if (node.kind === "script") scriptDetails(scripts.get(node.name));
    else nodeDetails(node);
    const up = along(id, "to", "from");
    const down = along(id, "from", "to");
    light(new Set([...up.seen, ...down.seen]), (from, to) => up.pairs.has(from + "\n" + to) || down.pairs.has(from + "\n" + to));
  };
  canvas.addEventListener("click", (e) => {
    if (moved || e.target.closest(".tools, .legend")) return;
    const b = e.target.closest(".box");
    choose(b ? b.dataset.id : null);
  });
  canvas.addEventListener("keydown", (e) => {
    const b = e.target.closest(".box");
    if (b && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); choose(b.dataset.id); }
  });

  // ---- Search.
  const texts = new Map();
  for (const n of data.nodes) {
    const id = n.kind === "asset" ? boxOf(n.name) : n.id;
    texts.set(id, (texts.get(id) || "") + "\n" + n.name);
  }
  for (const s of data.scripts) texts.set("script:" + s.name, [texts.get("script:" + s.name), s.file, s.comment || "", ...s.tags, ...s.tests, s.strategy, s.partition].join("\n"));
  for (const c of data.columns) for (const col of c.columns) texts.set("script:" + c.script, texts.get("script:" + c.script) + "\n" + col.name);
  const look = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) { found.textContent = ""; choose(chosen); return; }
    const ids = new Set([...boxes.keys()].filter((id) => words.every((w) => (texts.get(id) || "").toLowerCase().includes(w))));
    found.textContent = ids.size + " found";
    light(ids, (from, to) => ids.has(from) && ids.has(to));
    return ids;
  };
  search.addEventListener("input", look);
  search.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { search.value = ""; look(); search.blur(); }
    if (e.key === "Enter") { const ids = look(); if (ids && ids.size) choose([...ids][0]); }
  });
  document.addEventListener("keydown", (e) => {
    if (e.target === search || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/") { e.preventDefault(); search.focus(); }
    if (e.key === "Escape") choose(null);
    if (e.key === "+") zoom(1 / 1.3);
    if (e.key === "-") zoom(1.3);
    if (e.key === "0") fit();
  });

  fit();
  choose(boxes.has(location.hash.slice(1)) ? location.hash.slice(1) : null);
})();
