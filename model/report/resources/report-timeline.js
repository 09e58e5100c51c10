// The timeline: a canvas that draws what is in sight.

const ROW = 15, AXIS = 22;

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

class TimelineView {
  constructor(place, timeline) {
    this.timeline = timeline;
    this.rows = timeline.gpus.flatMap(gpu => gpu.tracks.map((track, i) =>
      ({gpu: gpu.name, first: i === 0, track: readTrack(track)})));
    this.range = [0, Math.max(timeline.end_ns, 1)];
    this.canvas = el('canvas', {tabindex: '0', role: 'img',
      'aria-label': `Timeline of ${timeline.gpus.length} GPUs. Arrow keys move, plus and minus zoom, 0 shows all; ` +
        'the table of all GPUs in the section before says the same in numbers.'});
    this.told = el('output', {class: 'told', 'aria-live': 'polite'}, 'Point at a slice, or tap it, to see what it is.');
    place.append(this.makeTools(), el('div', {class: 'frame'}, this.canvas), this.told);
    this.listen();
    this.resize();
  }

  makeTools() {
    const button = (text, name, act) => {
      const b = el('button', {type: 'button', 'aria-label': name}, text);
      b.addEventListener('click', act);
      return b;
    };
    return el('div', {class: 'tools', role: 'group', 'aria-label': 'View of the timeline'},
      button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)),
      button('←', 'Earlier', () => this.move(-0.3)), button('→', 'Later', () => this.move(0.3)),
      button('All', 'All of the iteration', () => this.show(0, this.timeline.end_ns)));
  }

  listen() {
    const c = this.canvas;
    c.addEventListener('keydown', event => {
      const act = {ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2), '+': () => this.zoom(0.5),
        '=': () => this.zoom(0.5), '-': () => this.zoom(2), '0': () => this.show(0, this.timeline.end_ns)}[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    c.addEventListener('wheel', event => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
    }, {passive: false});
    let from = null;
    c.addEventListener('pointerdown', event => { from = event.offsetX; c.setPointerCapture(event.pointerId); });
    c.addEventListener('pointerup', event => { from = null; this.tell(event.offsetX, event.offsetY); });
    c.addEventListener('pointercancel', () => { from = null; });
    c.addEventListener('pointermove', event => {
      if (from === null) { this.tell(event.offsetX, event.offsetY); return; }
      this.move((from - event.offsetX) / this.plotWidth());
      from = event.offsetX;
    });
    new ResizeObserver(() => this.resize()).observe(c.parentNode);
  }

  gutter() { return this.width < 520 ? 84 : 170; }
  plotWidth() { return Math.max(this.width - this.gutter(), 1); }
  timeAt(x) { return this.range[0] + (x - this.gutter()) / this.plotWidth() * (this.range[1] - this.range[0]); }

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
    const width = this.canvas.parentNode.clientWidth;
    if (width === this.width || width === 0) return;
    this.width = width;
    this.draw();
  }

  draw() {
    const height = AXIS + this.rows.length * ROW + 4, dpr = window.devicePixelRatio || 1;
    const c = this.canvas, g = c.getContext('2d');
    c.width = this.width * dpr;
    c.height = height * dpr;
    c.style.width = this.width + 'px';
    c.style.height = height + 'px';
    g.scale(dpr, dpr);
    g.fillStyle = color('page');
    g.fillRect(0, 0, this.width, height);
    this.drawAxis(g, height);
    const colors = this.timeline.names.map(name => color(name[1]));
    const ink = color('ink'), quiet = color('quiet'), line = color('line'), onSlice = color('on-slice');
    g.textBaseline = 'middle';
    this.rows.forEach((row, i) => {
      const y = AXIS + i * ROW;
      if (row.first) { g.fillStyle = line; g.fillRect(0, y - 1, this.width, 1); }
      this.drawRow(g, row.track, y, colors, onSlice);
      g.fillStyle = color('page');
      g.fillRect(0, y, this.gutter() - 4, ROW - 1);
      g.font = '11px system-ui, "DejaVu Sans", sans-serif';
      g.fillStyle = row.first ? ink : quiet;
      const narrow = this.width < 520;
      const text = narrow ? (row.first ? row.gpu : row.track.name) : (row.first ? row.gpu + ' ' : '   ') + row.track.name;
      g.fillText(text, row.first ? 2 : 10, y + ROW / 2, this.gutter() - 12);
    });
  }

  drawAxis(g, height) {
    const [from, to] = this.range, step = niceStep(to - from, Math.max(this.plotWidth() / 110, 2));
    g.font = '11px system-ui, "DejaVu Sans", sans-serif';
    g.textBaseline = 'top';
    const decimals = Math.max(0, -Math.floor(Math.log10(step / 1e6) + 1e-9));
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = this.gutter() + (t - from) / (to - from) * this.plotWidth();
      g.fillStyle = color('line');
      g.fillRect(x, 16, 1, height - 16);
      g.fillStyle = color('quiet');
      g.fillText((t / 1e6).toFixed(Math.min(decimals, 6)) + ' ms', x + 2, 3);
    }
  }

  drawRow(g, track, y, colors, onSlice) {
    const [from, to] = this.range, scale = this.plotWidth() / (to - from), left = this.gutter();
    let drawnTo = -1;
    for (let i = findSlice(track, from); i < track.n && track.start[i] < to; ++i) {
      const x0 = left + Math.max(track.start[i] - from, 0) * scale;
      const x1 = left + Math.min(track.end[i] - from, to - from) * scale;
      if (x1 - x0 < 0.5 && x0 < drawnTo) continue; // there is something at this place already
      const width = Math.max(x1 - x0, 0.6);
      g.fillStyle = colors[track.what[i]];
      g.fillRect(x0, y + 1, width, ROW - 3);
      drawnTo = x0 + width;
      if (width > 44) {
        g.save();
        g.beginPath();
        g.rect(x0, y, width - 2, ROW);
        g.clip();
        g.fillStyle = onSlice;
        g.font = '10px system-ui, "DejaVu Sans", sans-serif';
        g.fillText(this.timeline.names[track.what[i]][0], x0 + 3, y + ROW / 2);
        g.restore();
      }
    }
  }

  tell(x, y) {
    const row = this.rows[Math.floor((y - AXIS) / ROW)];
    if (!row || x < this.gutter()) return;
    const track = row.track, t = this.timeAt(x), i = findSlice(track, t - (this.range[1] - this.range[0]) / this.plotWidth());
    if (i >= track.n || track.start[i] > t + (this.range[1] - this.range[0]) / this.plotWidth()) return;
    const [name, kind] = this.timeline.names[track.what[i]];
    this.told.textContent = `${row.gpu}, ${track.name}: ${name} (${KINDS[kind]}), micro-batch ${track.batch[i]}, ` +
      `${time((track.end[i] - track.start[i]) / 1e9)} from ${time(track.start[i] / 1e9)} to ${time(track.end[i] / 1e9)}`;
  }
}

const timelineViews = [];

function drawTimeline(place, result) {
  const t = result.timeline;
  if (t.gpus.every(gpu => gpu.tracks.length === 0)) {
    place.append(el('p', {}, 'Nothing ran.'));
    return;
  }
  const used = Object.keys(KINDS).filter(kind => t.names.some(name => name[1] === kind));
  let note = `A row per GPU and stream, ${count(t.gpus.length)} GPUs`;
  if (t.gpus.length < t.devices) note += ` of ${count(t.devices)}, equally many from all parts of the job`;
  note += t.merged_ns > 0 ?
    `. Slices shorter than ${time(t.merged_ns / 1e9)} are drawn together; --timeline=FILE writes all.` : '.';
  place.append(makeLegend(used), el('p', {class: 'note'}, note,
    el('span', {class: 'hint'}, ' Drag to move, hold Ctrl and scroll to zoom.')));
  timelineViews.push(new TimelineView(place, t));
}
