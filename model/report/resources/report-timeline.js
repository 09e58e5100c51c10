// The timeline: a row for GPUs that did the same, which can be opened; canvases draw what is in sight.

const LANE = 15, BLOCK = 20, PATH = 5, AXIS = 22, FONT = 'system-ui, "DejaVu Sans", sans-serif';

function readTrack(track) {
  const n = track.slices.length / 4;
  const result = {name: track.name, n, start: new Float64Array(n), end: new Float64Array(n),
    what: new Uint32Array(n), batch: new Uint32Array(n)};
  let at = 0;
  for (let i = 0; i < n; ++i) {
    at += track.slices[4 * i];
    result.start[i] = at;
    at += track.slices[4 * i + 1];
    result.end[i] = at;
    result.what[i] = track.slices[4 * i + 2];
    result.batch[i] = track.slices[4 * i + 3];
  }
  return result;
}

/// Four numbers each: [what, batch, start, length].
function readBlocks(numbers) {
  const blocks = [];
  for (let i = 0; i < numbers.length; i += 4) {
    blocks.push({what: numbers[i], batch: numbers[i + 1], start: numbers[i + 2], end: numbers[i + 2] + numbers[i + 3]});
  }
  return blocks;
}

/// First slice that ends after a time.
function findSlice(track, t) {
  let low = 0, high = track.n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.end[middle] > t) high = middle; else low = middle + 1;
  }
  return low;
}

function niceStep(range, most) {
  if (!(range > 0)) return 1;
  const rough = range / most, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find(f => f * power >= rough);
}

/// "0, 2–5" of [0, 2, 3, 4, 5].
function ranges(numbers) {
  const parts = [];
  numbers.forEach((n, i) => {
    if (i > 0 && n === numbers[i - 1] + 1) parts[parts.length - 1][1] = n;
    else parts.push([n, n]);
  });
  return parts.map(p => p[0] === p[1] ? `${p[0]}` : `${p[0]}–${p[1]}`).join(', ');
}

/// What a row of GPUs is called, in two lines.
function nameRow(row, timeline) {
  const several = row.count > 1, hasStages = timeline.gpus.some(g => g.stages.length !== 1 || g.stages[0] > 0);
  const servers = Object.keys(row.servers), hasReplicas = timeline.gpus.some(g => g.replicas.some(r => r > 0));
  const facts = [];
  if (hasStages) facts.push(`stage ${ranges(row.stages)}`);
  if (hasReplicas) facts.push(`${row.replicas.length > 1 ? 'replicas' : 'replica'} ${ranges(row.replicas)}`);
  if (several) facts.push(servers.length > 1 ? `${count(servers.length)} servers` : servers[0]);
  return {title: several ? `${count(row.count)} GPUs like ${row.name}` : row.name, facts: facts.join(', ')};
}

class TimelineView {
  constructor(place, timeline) {
    this.timeline = timeline;
    this.range = [0, Math.max(timeline.end_ns, 1)];
    this.query = '';
    this.showsPath = true;
    const few = timeline.gpus.length <= 4;
    this.rows = timeline.gpus.map((gpu, i) => ({gpu, i, open: few, tracks: gpu.tracks.map(readTrack),
      blocks: readBlocks(gpu.blocks), path: this.pathOf(i)}));
    this.told = el('output', {class: 'told', 'aria-live': 'polite'}, 'Point at a slice, or tap it, to see what it is.');
    this.map = el('canvas', {class: 'map', role: 'img', 'aria-label': 'Overview of the whole timeline, with the part that is shown below'});
    this.axis = el('canvas', {class: 'axis', role: 'img', 'aria-label': 'Time'});
    this.body = el('div', {class: 'lanes'}, this.rows.map(row => this.makeRow(row)));
    this.frame = el('div', {class: 'frame', tabindex: '0', role: 'region', 'aria-label': 'Timeline. Arrow keys move, plus and minus zoom, 0 shows all; ' +
      'the table of all GPUs in the section before says the same in numbers.'}, el('div', {class: 'lane-row head'}, el('span', {}), this.axis), this.body);
    place.append(this.makeTools(), this.map, this.frame, this.told);
    this.listen();
    this.resize();
  }

  /// The pieces of the critical path in a row.
  pathOf(row) {
    const path = this.timeline.path, pieces = [];
    for (let i = 0; i < path.length; i += 4) {
      if (path[i] === row) pieces.push({what: path[i + 1], start: path[i + 2], end: path[i + 2] + path[i + 3]});
    }
    return pieces;
  }

  makeRow(row) {
    const name = nameRow(row.gpu, this.timeline);
    row.canvas = el('canvas', {role: 'img', 'aria-label': `${name.title}: ${name.facts}`});
    const button = el('button', {type: 'button', class: 'opener', 'aria-expanded': String(row.open)},
      el('b', {}, name.title), name.facts ? el('span', {class: 'facts'}, name.facts) : null);
    row.detail = el('div', {class: 'members', hidden: !row.open}, row.gpu.count > 1 ?
      [el('p', {}, `They differ by at most ${time(row.gpu.difference_ns / 1e9)}.`),
        el('ul', {}, Object.entries(row.gpu.servers).map(([server, gpus]) => el('li', {}, el('b', {}, server), ' ' + gpus.join(' '))))] : [],
      el('ol', {class: 'streams'}, row.tracks.map(track => el('li', {}, track.name))));
    button.addEventListener('click', () => {
      row.open = !row.open;
      button.setAttribute('aria-expanded', String(row.open));
      row.detail.hidden = !row.open;
      this.drawRow(row);
    });
    return el('div', {class: 'lane-row'}, el('div', {class: 'who-row'}, button, row.detail), row.canvas);
  }

  makeTools() {
    const button = (text, name, act) => {
      const b = el('button', {type: 'button', 'aria-label': name}, text);
      b.addEventListener('click', act);
      return b;
    };
    const search = el('input', {type: 'search', size: '22', 'aria-label': 'Find in the timeline', placeholder: 'Find, e.g. all-reduce'});
    search.addEventListener('input', () => this.find(search.value));
    search.addEventListener('keydown', event => { if (event.key === 'Enter') this.next(); });
    this.search = search;
    const iterations = this.timeline.iterations;
    const choice = iterations.length > 1 ? el('select', {'aria-label': 'Iteration to show'}, el('option', {value: '-1'}, 'All iterations'),
      iterations.map(([, , isSteady], i) => el('option', {value: String(i)}, `Iteration ${i + 1}${isSteady ? ' (steady)' : ''}`))) : null;
    if (choice) choice.addEventListener('change', () => this.show(...(iterations[choice.value] || [0, this.timeline.end_ns])));
    const path = el('input', {type: 'checkbox', checked: true});
    path.addEventListener('change', () => { this.showsPath = path.checked; this.draw(); });
    return el('div', {class: 'tools', role: 'group', 'aria-label': 'View of the timeline'},
      button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)),
      button('←', 'Earlier', () => this.move(-0.3)), button('→', 'Later', () => this.move(0.3)),
      button('All', 'All of the run', () => this.show(0, this.timeline.end_ns)), choice,
      search, button('Next', 'Next place that is found', () => this.next()),
      el('label', {}, path, ' critical path'));
  }

  listen() {
    this.frame.addEventListener('keydown', event => {
      const act = {ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), '+': () => this.zoom(0.5),
        '=': () => this.zoom(0.5), '-': () => this.zoom(2), '0': () => this.show(0, this.timeline.end_ns)}[event.key];
      if (act && event.target === this.frame) { event.preventDefault(); act(); }
    });
    for (const row of this.rows) this.listenTo(row);
    const go = event => {
      const at = event.offsetX / this.mapWidth * this.timeline.end_ns, half = (this.range[1] - this.range[0]) / 2;
      this.show(at - half, at + half);
    };
    this.map.addEventListener('pointerdown', event => { this.map.setPointerCapture(event.pointerId); go(event); });
    this.map.addEventListener('pointermove', event => { if (event.buttons) go(event); });
    new ResizeObserver(() => this.resize()).observe(this.frame);
  }

  listenTo(row) {
    const c = row.canvas;
    c.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
    }, {passive: false});
    let from = null;
    c.addEventListener('pointerdown', event => { from = event.offsetX; c.setPointerCapture(event.pointerId); });
    c.addEventListener('pointerup', event => { from = null; this.tell(row, event.offsetX, event.offsetY); });
    c.addEventListener('pointercancel', () => { from = null; });
    c.addEventListener('pointermove', event => {
      if (from === null) { this.tell(row, event.offsetX, event.offsetY); return; }
      this.move((from - event.offsetX) / this.width);
      from = event.offsetX;
    });
  }

  timeAt(x) { return this.range[0] + x / this.width * (this.range[1] - this.range[0]); }
  xOf(t) { return (t - this.range[0]) / (this.range[1] - this.range[0]) * this.width; }

  show(from, to) {
    const end = Math.max(this.timeline.end_ns, 1), length = Math.min(Math.max(to - from, 10), end);
    const start = Math.min(Math.max(from, 0), end - length);
    this.range = [start, start + length];
    this.draw();
  }

  zoom(factor, around) {
    const [from, to] = this.range, middle = around === undefined ? (from + to) / 2 : around;
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }

  move(share) {
    const step = share * (this.range[1] - this.range[0]);
    this.show(this.range[0] + step, this.range[1] + step);
  }

  resize() {
    const width = this.axis.parentNode.clientWidth - this.axis.parentNode.firstChild.offsetWidth, all = this.frame.clientWidth;
    if (width <= 0 || (width === this.width && all === this.mapWidth)) return;
    this.width = width;
    this.mapWidth = all;
    this.draw();
  }

  /// Whether a name is looked for.
  matches(name) {
    const [text, kind, part] = this.timeline.names[name];
    return `${text} ${describeKind(kind, part)} ${part}`.toLowerCase().includes(this.query);
  }

  find(query) {
    this.query = query.trim().toLowerCase();
    this.hits = this.timeline.names.map((name, i) => this.query !== '' && this.matches(i));
    this.at = this.range[0];
    let n = 0;
    if (this.query) for (const row of this.rows) for (const track of row.tracks) for (let i = 0; i < track.n; ++i) n += this.hits[track.what[i]];
    this.told.textContent = this.query ? `${count(n)} slices have “${query}” in their name or kind.` : '';
    this.draw();
  }

  /// Shows the next slice that is found.
  next() {
    if (!this.query) return;
    let best = null;
    for (const row of this.rows) {
      for (const track of row.tracks) {
        for (let i = 0; i < track.n; ++i) {
          if (this.hits[track.what[i]] && track.start[i] > this.at && (!best || track.start[i] < best.track.start[best.i])) best = {row, track, i};
        }
      }
    }
    if (!best) { this.at = -1; this.told.textContent = 'There is none behind; the next one is the first again.'; return; }
    this.at = best.track.start[best.i];
    const length = Math.max(6 * (best.track.end[best.i] - this.at), this.timeline.end_ns / 200);
    this.told.textContent = this.describe(best.row, best.track, best.i);
    this.show(this.at - length / 3, this.at + length * 2 / 3);
  }

  draw() {
    if (!this.width) return;
    const g = this.axis.getContext('2d');
    this.paints = this.timeline.names.map(name => makePaint(g, name[1], name[2]));
    this.blockPaints = this.timeline.classes.map(part => makePaint(g, 'compute', part));
    this.drawAxis();
    this.drawMap();
    this.rows.forEach(row => this.drawRow(row));
    if (this.redrawLegend) this.redrawLegend();
  }

  drawAxis() {
    const g = prepare(this.axis, this.width, AXIS), [from, to] = this.range;
    const step = niceStep(to - from, Math.max(this.width / 110, 2));
    g.font = '11px ' + FONT;
    g.textBaseline = 'top';
    const decimals = Math.max(0, -Math.floor(Math.log10(step / 1e6) + 1e-9));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = this.xOf(t), text = (t / 1e6).toFixed(Math.min(decimals, 6)) + ' ms', w = g.measureText(text).width;
      g.fillStyle = color('line');
      g.fillRect(x, 0, 1, AXIS);
      g.fillStyle = color('quiet');
      g.fillText(text, x + 3 + w > this.width ? x - 3 - w : x + 3, 5);
    }
    this.drawIterationEnds(g, AXIS);
  }

  drawMap() {
    const lane = Math.max(1, Math.min(8, Math.floor(56 / this.rows.length))), height = Math.max(24, lane * this.rows.length + 4);
    const g = prepare(this.map, this.mapWidth, height), scale = this.mapWidth / Math.max(this.timeline.end_ns, 1);
    this.rows.forEach((row, r) => {
      const y = 2 + r * lane, h = lane > 2 ? lane - 1 : lane;
      for (const track of row.tracks) {
        let drawn = -1;
        for (let i = 0; i < track.n; ++i) {
          const x0 = track.start[i] * scale, x1 = Math.max(track.end[i] * scale, x0 + 0.5);
          if (x1 - drawn < 0.5) continue;
          const [, kind, part] = this.timeline.names[track.what[i]];
          g.fillStyle = color(hueOf(kind, part));
          g.fillRect(x0, y, x1 - x0, h);
          drawn = x1;
        }
      }
    });
    g.strokeStyle = color('ink');
    g.lineWidth = 2;
    const x0 = this.range[0] * scale, x1 = this.range[1] * scale;
    g.strokeRect(x0 + 1, 1, Math.max(x1 - x0 - 2, 2), height - 2);
  }

  drawRow(row) {
    const lanes = row.open ? row.tracks.length : 0;
    const height = BLOCK + PATH + lanes * LANE + 4;
    const g = prepare(row.canvas, this.width, height);
    g.textBaseline = 'middle';
    if (row.blocks.length > 0) this.drawBlocks(g, row);
    else if (!row.open && row.tracks.length > 0) this.drawTrack(g, row.tracks[0], 1, BLOCK);
    if (this.showsPath) this.drawPath(g, row);
    for (let i = 0; i < lanes; ++i) this.drawTrack(g, row.tracks[i], BLOCK + PATH + 2 + i * LANE, LANE);
    this.drawIterationEnds(g, height);
  }

  /// A line where one of several iterations ends.
  drawIterationEnds(g, height) {
    g.fillStyle = color('ink');
    for (const [, end] of this.timeline.iterations) {
      if (end > this.range[0] && end < this.range[1]) g.fillRect(Math.round(this.xOf(end)), 0, 1, height);
    }
  }

  /// Computation by part and micro-batch; what is communicated meanwhile stands below, when open.
  drawBlocks(g, row) {
    const [from, to] = this.range;
    for (const track of row.tracks) this.drawCommunication(g, track);
    for (const block of row.blocks) {
      if (block.end <= from || block.start >= to) continue;
      const x0 = this.xOf(Math.max(block.start, from)), x1 = this.xOf(Math.min(block.end, to)), width = Math.max(x1 - x0, 0.6);
      g.globalAlpha = this.query ? 0.35 : 1;
      g.fillStyle = this.blockPaints[block.what];
      g.fillRect(x0, 1, width, BLOCK - 7);
      g.globalAlpha = 1;
      this.label(g, String(block.batch), x0, width, 1 + (BLOCK - 7) / 2);
    }
  }

  drawCommunication(g, track) {
    const [from, to] = this.range;
    let drawn = -1;
    for (let i = findSlice(track, from); i < track.n && track.start[i] < to; ++i) {
      if (this.timeline.names[track.what[i]][1] === 'compute') continue;
      const x0 = this.xOf(Math.max(track.start[i], from)), x1 = Math.max(this.xOf(Math.min(track.end[i], to)), x0 + 0.5);
      if (x1 - drawn < 0.5) continue;
      g.globalAlpha = this.query && !this.hits[track.what[i]] ? 0.25 : 1;
      g.fillStyle = this.paints[track.what[i]];
      g.fillRect(x0, BLOCK - 5, x1 - x0, 5);
      drawn = x1;
    }
    g.globalAlpha = 1;
  }

  drawPath(g, row) {
    const [from, to] = this.range;
    g.fillStyle = color('warn');
    for (const piece of row.path) {
      if (piece.end < from || piece.start > to) continue;
      const x0 = this.xOf(Math.max(piece.start, from)), x1 = this.xOf(Math.min(piece.end, to));
      g.fillRect(x0, BLOCK + 1, Math.max(x1 - x0, 0.7), piece.what < 0 ? 1 : 3);
    }
  }

  label(g, text, x0, width, y) {
    g.font = '10px ' + FONT;
    const w = g.measureText(text).width;
    if (w + 6 > width) return;
    g.fillStyle = color('page');
    g.globalAlpha = 0.82;
    g.fillRect(x0 + (width - w) / 2 - 2, y - 6, w + 4, 11);
    g.globalAlpha = 1;
    g.fillStyle = color('ink');
    g.fillText(text, x0 + (width - w) / 2, y);
  }

  drawTrack(g, track, y, height) {
    const [from, to] = this.range;
    let drawn = -1;
    for (let i = findSlice(track, from); i < track.n && track.start[i] < to; ++i) {
      const x0 = this.xOf(Math.max(track.start[i], from)), x1 = this.xOf(Math.min(track.end[i], to));
      if (x1 - x0 < 0.5 && x0 < drawn) continue; // there is something at this place already
      const width = Math.max(x1 - x0, 0.6);
      g.globalAlpha = this.query && !this.hits[track.what[i]] ? 0.25 : 1;
      g.fillStyle = this.paints[track.what[i]];
      g.fillRect(x0, y, width, height - 2);
      g.globalAlpha = 1;
      drawn = x0 + width;
      if (width > 30) {
        const name = this.timeline.names[track.what[i]][0], text = `${track.batch[i]}: ${name}`;
        g.font = '10px ' + FONT;
        this.label(g, g.measureText(text).width + 6 <= width ? text : name, x0, width, y + height / 2 - 1);
      }
    }
  }

  describe(row, track, i) {
    const [name, kind, part] = this.timeline.names[track.what[i]];
    return `${nameRow(row.gpu, this.timeline).title}, ${track.name}: ${name} (${describeKind(kind, part)}), micro-batch ${track.batch[i]}, ` +
      `${time((track.end[i] - track.start[i]) / 1e9)} from ${time(track.start[i] / 1e9)} to ${time(track.end[i] / 1e9)}`;
  }

  tell(row, x, y) {
    const t = this.timeAt(x), near = (this.range[1] - this.range[0]) / this.width;
    const lane = Math.floor((y - BLOCK - PATH - 2) / LANE);
    if (lane < 0) {
      const piece = y > BLOCK && row.path.find(p => p.start <= t + near && p.end >= t - near);
      const block = row.blocks.find(b => b.start <= t && b.end > t);
      if (piece) {
        this.told.textContent = piece.what < 0 ? `Critical path: nothing of this GPU for ${time((piece.end - piece.start) / 1e9)}: the host, or an order.` :
          `Critical path: ${this.timeline.names[piece.what][0]}, ${time((piece.end - piece.start) / 1e9)}`;
      } else if (block) {
        this.told.textContent = `${nameRow(row.gpu, this.timeline).title}: ${CLASSES[this.timeline.classes[block.what]]}, micro-batch ${block.batch}, ` +
          `from ${time(block.start / 1e9)} to ${time(block.end / 1e9)}; open the row for every task`;
      }
      return;
    }
    const track = row.open ? row.tracks[lane] : null;
    if (!track) return;
    const i = findSlice(track, t - near);
    if (i < track.n && track.start[i] <= t + near) this.told.textContent = this.describe(row, track, i);
  }
}

const timelineViews = [];

/// What the critical path is made of, and what would be without it.
function drawPathTable(place, t, view) {
  const sums = new Map();
  for (let i = 0; i < t.path.length; i += 4) {
    const name = t.path[i + 1], key = name < 0 ? 'host' : t.names[name][1] + '|' + t.names[name][2];
    sums.set(key, (sums.get(key) || 0) + t.path[i + 3]);
  }
  const rows = [...sums].filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]).slice(0, 10);
  if (rows.length === 0) return;
  place.append(el('h3', {}, 'What the run waits for'),
    el('p', {class: 'note'}, 'The critical path: back from the end, what ended just before, and of a communication the rank that joined last. ' +
      'Its parts add up to the run. What one is without is a least time: another chain may then be the longest.'),
    el('ul', {class: 'path-list'}, rows.map(([key, ns]) => {
      const [kind, part] = key.split('|'), name = key === 'host' ? 'the host, or the order of tasks' : describeKind(kind, part);
      const text = [el('b', {}, name), `: ${time(ns / 1e9)}, ${percent(ns / Math.max(t.end_ns, 1))}. Without it: at least ${time((t.end_ns - ns) / 1e9)}. `];
      if (key === 'host') return el('li', {}, text);
      const link = el('button', {type: 'button', class: 'as-link'}, 'Show it');
      link.addEventListener('click', () => {
        view.search.value = CLASSES[part] === undefined ? part : kind === 'compute' ? CLASSES[part] : describeKind(kind, part);
        view.find(view.search.value);
        view.frame.scrollIntoView({block: 'nearest'});
      });
      return el('li', {}, text, link);
    })));
}

function drawTimeline(place, result) {
  const t = result.timeline;
  if (t.gpus.every(gpu => gpu.tracks.length === 0)) {
    place.append(el('p', {}, 'Nothing ran.'));
    return;
  }
  const shown = t.gpus.reduce((sum, gpu) => sum + gpu.count, 0);
  let note = `${count(t.devices)} GPUs in ${count(t.rows)} ${t.rows === 1 ? 'row' : 'rows'}: those that begin and end all things within a thousandth of ` +
    'the run are one, and open to their streams. Above: computation by micro-batch, with its number; below it communication; ' +
    'the line under both is the critical path.';
  if (t.gpus.length < t.rows) note += ` ${count(t.gpus.length)} rows are shown, with ${count(shown)} GPUs, from all parts of the job.`;
  if (t.iterations.length > 1) note += ' An upright line is the end of an iteration.';
  if (t.merged_ns > 0) note += ` Slices shorter than ${time(t.merged_ns / 1e9)} are drawn together; --timeline=FILE writes all.`;
  const redraw = makePaintLegend(place, t.names);
  place.append(el('p', {class: 'note'}, note, el('span', {class: 'hint'}, ' Drag to move, hold Ctrl and scroll to zoom.')));
  const view = new TimelineView(place, t);
  view.redrawLegend = redraw;
  timelineViews.push(view);
  drawPathTable(place, t, view);
}
