// What slices look like: colour by computation or parallelism, texture by what is done, so that
// neither alone has to tell them apart.

const CLASSES = {forward: 'forward', backward: 'backward', recomputation: 'recomputation', optimizer: 'optimizer',
  other: 'other computation', 'all-reduce': 'all-reduce', 'all-gather': 'all-gather', 'reduce-scatter': 'reduce-scatter',
  'all-to-all': 'all-to-all', 'send-recv': 'send and receive', broadcast: 'broadcast', reduce: 'reduce', gather: 'gather',
  scatter: 'scatter'};
const PARTS_OF_COMPUTE = {forward: 'forward', backward: 'backward', recomputation: 'recomputation', optimizer: 'optimizer'};

/// Strokes of a texture on a tile of 8 by 8: [x0, y0, x1, y1] each.
const TEXTURES = {
  backward: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
  recomputation: [[0, 8, 8, 0], [0, 0, 8, 8]],
  optimizer: [[0, 2, 8, 2], [0, 6, 8, 6]],
  other: [[4, 0, 4, 8]],
  'all-gather': [[2, 0, 2, 8], [6, 0, 6, 8]],
  'reduce-scatter': [[0, 2, 8, 2], [0, 6, 8, 6]],
  'all-to-all': [[0, 4, 8, 4], [4, 0, 4, 8]],
  'send-recv': [[1, 2, 3, 2], [5, 6, 7, 6]],
  broadcast: [[0, 0, 8, 8]],
  reduce: [[0, 8, 8, 0]],
  gather: [[0, 4, 8, 4]],
  scatter: [[4, 0, 4, 8]]};

/// Name of the colour of a kind and class.
const hueOf = (kind, part) => kind === 'compute' && PARTS_OF_COMPUTE[part] ? part : kind;

/// A fill of a canvas: the colour of a kind with the texture of a class.
function makePaint(g, kind, part) {
  const base = color(hueOf(kind, part)), strokes = TEXTURES[part];
  if (!strokes) return base;
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const t = tile.getContext('2d');
  t.fillStyle = base;
  t.fillRect(0, 0, 8, 8);
  t.strokeStyle = color('page');
  t.globalAlpha = 0.55;
  t.lineWidth = 1;
  for (const [x0, y0, x1, y1] of strokes) {
    t.beginPath();
    t.moveTo(x0, y0);
    t.lineTo(x1, y1);
    t.stroke();
  }
  return g.createPattern(tile, 'repeat');
}

const describeKind = (kind, part) => kind === 'compute' ? CLASSES[part] || part :
  `${CLASSES[part] || part}, ${KINDS[kind] || kind}`;

/// The legend of the kinds and classes in use; returns what draws it again.
function makePaintLegend(place, names) {
  const seen = new Map(names.map(([, kind, part]) => [kind + '|' + part, [kind, part]]));
  const order = Object.keys(KINDS), parts = Object.keys(CLASSES);
  const list = [...seen.values()].sort((a, b) =>
    order.indexOf(a[0]) - order.indexOf(b[0]) || parts.indexOf(a[1]) - parts.indexOf(b[1]));
  const swatches = list.map(([kind, part]) => {
    const canvas = el('canvas', {class: 'swatch', width: 28, height: 14, 'aria-hidden': 'true'});
    return {canvas, kind, part};
  });
  place.append(el('ul', {class: 'legend'}, swatches.map(s =>
    el('li', {class: 'painted'}, s.canvas, describeKind(s.kind, s.part)))));
  const draw = () => swatches.forEach(s => {
    const g = s.canvas.getContext('2d');
    g.fillStyle = makePaint(g, s.kind, s.part);
    g.fillRect(0, 0, 28, 14);
  });
  draw();
  return draw;
}

/// Makes a canvas as sharp as the screen. Returns its context, in CSS pixels.
function prepare(canvas, width, height) {
  const dpr = window.devicePixelRatio || 1, g = canvas.getContext('2d');
  canvas.width = Math.max(1, Math.round(width * dpr));
  canvas.height = Math.max(1, Math.round(height * dpr));
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  g.scale(dpr, dpr);
  g.clearRect(0, 0, width, height);
  return g;
}
