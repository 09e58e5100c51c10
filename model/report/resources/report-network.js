// The topology, coloured by use, and links over time.

const STEPS = [0.001, 0.1, 0.25, 0.5, 0.75];
const STEP_NAMES = ['unused', 'up to 10 %', 'up to 25 %', 'up to 50 %', 'up to 75 %', 'more'];
const stepOf = share => STEPS.filter(least => share > least).length;
const HELD = 0.01;

/// Use of a link: [busy, held, queue] of both directions, the larger of each.
function useOf(link, which) {
  const use = link[4][which];
  return {busy: Math.max(use[0], use[3]), held: Math.max(use[1], use[4]), queue: Math.max(use[2], use[5]),
    forward: use.slice(0, 3), back: use.slice(3)};
}

function drawLine(p, q, use, title, bend) {
  const step = stepOf(use.busy), held = use.held >= HELD;
  const d = bend ? `M${p.x} ${p.y}Q${(p.x + q.x) / 2} ${Math.max(p.y, q.y) + bend} ${q.x} ${q.y}` :
    `M${p.x} ${p.y}L${q.x} ${q.y}`;
  const lines = [svg('path', {d, fill: 'none', style: `stroke:var(--u${step});stroke-width:${1 + step * 0.7}`})];
  if (held) lines.push(svg('path', {d, fill: 'none', style: 'stroke:var(--warn);stroke-width:1.6;stroke-dasharray:5 4'}));
  return svg('g', {}, svg('title', {}, title), lines);
}

function describeLink(vertices, link, use) {
  const direction = (a, b, u) => `${vertices[a][0]} → ${vertices[b][0]}: busy ${percent(u[0])}` +
    (u[1] >= HELD ? `, held up ${percent(u[1])}` : '') + `, longest queue ${bytes(u[2])}`;
  return `${link[2]}, ${rate(link[3])}\n${direction(link[0], link[1], use.forward)}\n${direction(link[1], link[0], use.back)}`;
}

function drawBox(at, name, kind, hot) {
  return svg('g', {}, svg('title', {}, `${name} (${kind})`),
    svg('rect', {class: 'box' + (hot ? ' hot' : ''), x: at.x - at.w / 2, y: at.y - 10, width: at.w, height: 20, rx: 3}),
    svg('text', {x: at.x, y: at.y + 4, 'text-anchor': 'middle'}, name));
}

/// Places names in a row; returns the width that it needs.
function placeRow(names, y, left, width, least) {
  const step = Math.max(width / Math.max(names.length, 1), least);
  return names.map((name, i) => ({x: left + step * (i + 0.5), y, w: Math.min(step - 6, Math.max(30, 7 * name.length + 10))}));
}

const shortName = name => name.includes('.') ? name.slice(name.indexOf('.') + 1) : name;

/// One server: network at the top, then NICs, CPUs, PCIe switches, GPUs, NVSwitches.
function drawServer(topology, which, server) {
  const rows = ['switch', 'nic', 'cpu', 'pcie-switch', 'gpu', 'nvswitch'];
  const {vertices, links} = topology;
  const inside = vertices.map(v => v[2] === server);
  const near = vertices.map((v, i) => inside[i] || links.some(l => v[2] === -1 &&
    ((l[0] === i && inside[l[1]]) || (l[1] === i && inside[l[0]]))));
  const members = rows.map(kind => vertices.map((v, i) => i).filter(i => near[i] && vertices[i][1] === kind));
  const most = Math.max(...members.map(row => row.length));
  const width = Math.max(760, most * 62), at = {};
  let y = 24;
  for (const row of members) {
    if (row.length === 0) continue;
    const places = placeRow(row.map(i => shortName(vertices[i][0])), y, 0, width, 40);
    row.forEach((id, i) => { at[id] = places[i]; });
    y += 66;
  }
  const lines = links.filter(l => at[l[0]] && at[l[1]] && (inside[l[0]] || inside[l[1]]))
    .sort((a, b) => useOf(a, which).busy - useOf(b, which).busy)
    .map(l => drawLine(at[l[0]], at[l[1]], useOf(l, which), describeLink(vertices, l, useOf(l, which)),
      at[l[0]].y === at[l[1]].y ? 34 : 0));
  const boxes = Object.entries(at).map(([id, p]) => drawBox(p, shortName(vertices[id][0]), vertices[id][1]));
  return svg('svg', {viewBox: `0 0 ${width} ${y - 20}`, width, height: y - 20, role: 'img',
    'aria-label': `Links of one server, coloured by use; the table of links has the numbers.`}, lines, boxes);
}

/// Levels of network switches: hops from the servers.
function levelsOf(topology) {
  const {vertices, links} = topology, level = vertices.map(v => v[2] >= 0 ? 0 : -1);
  for (let changed = true, next = 1; changed; ++next) {
    changed = false;
    for (const l of links) {
      for (const [a, b] of [[l[0], l[1]], [l[1], l[0]]]) {
        if (level[a] === next - 1 && level[b] === -1) { level[b] = next; changed = true; }
      }
    }
  }
  return level;
}

/// All servers as boxes, and the network between them.
function drawOverview(topology, which, servers) {
  const MOST = 48;
  const {vertices, links} = topology, level = levelsOf(topology), bundles = new Map();
  const nameOf = i => vertices[i][2] >= 0 ? 's' + vertices[i][2] : 'v' + i;
  for (const l of links) {
    const a = nameOf(l[0]), b = nameOf(l[1]);
    if (a === b) continue;
    const key = a < b ? a + '|' + b : b + '|' + a, use = useOf(l, which);
    const bundle = bundles.get(key) || {a, b, n: 0, busy: 0, held: 0, rate: 0};
    bundle.n += 1;
    bundle.rate += l[3];
    bundle.busy = Math.max(bundle.busy, use.busy);
    bundle.held = Math.max(bundle.held, use.held);
    bundles.set(key, bundle);
  }
  if (bundles.size === 0) return null;
  const top = Math.max(...level), rows = [];
  for (let i = top; i >= 1; --i) rows.push(vertices.map((v, id) => id).filter(id => level[id] === i).slice(0, MOST).map(id => ['v' + id, vertices[id][0]]));
  rows.push(servers.slice(0, MOST).map(s => ['s' + s.id, s.name]));
  const most = Math.max(...rows.map(row => row.length)), width = Math.max(330, most * 66), at = {};
  rows.forEach((row, r) => {
    const places = placeRow(row.map(e => e[1]), 24 + 84 * r, 0, width, 24);
    row.forEach((e, i) => { at[e[0]] = Object.assign(places[i], {name: e[1]}); });
  });
  const shown = [...bundles.values()].filter(b => at[b.a] && at[b.b]).sort((a, b) => a.busy - b.busy);
  const height = 24 + 84 * (rows.length - 1) + 26;
  const cut = servers.length > MOST || rows.some(row => row.length === MOST);
  return el('figure', {class: 'picture', tabindex: '0'}, svg('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Network of ${servers.length} servers, coloured by the busiest link of each bundle; the table of links has the numbers.`},
    shown.map(b => drawLine(at[b.a], at[b.b], b, `${at[b.a].name} – ${at[b.b].name}: ${b.n} link${b.n > 1 ? 's' : ''}, ` +
      `${rate(b.rate)}; busiest ${percent(b.busy)}` + (b.held >= HELD ? `, held up ${percent(b.held)}` : ''),
      at[b.a].y === at[b.b].y ? 34 : 0)),
    Object.values(at).map(p => drawBox(p, p.name, 'part of the network'))),
    el('figcaption', {}, 'Servers and the network between them: a line for all links of a pair, coloured by the busiest direction.' +
      (cut ? ` At most ${MOST} servers and switches of a level are drawn.` : '')));
}

function drawTopology(place, result) {
  const topology = data.topology, which = data.results.indexOf(result);
  if (!topology.vertices) {
    place.append(el('p', {}, 'The cluster is too large to be drawn; the table of links has the busiest.'));
    return;
  }
  place.append(el('ul', {class: 'legend'}, STEP_NAMES.map((name, i) => el('li', {style: `--swatch:var(--u${i})`}, name)),
    el('li', {class: 'dashed'}, 'held up')),
    el('p', {class: 'note'}, 'Colour and width: share of the run that the busier direction transmits. ' +
      'Dashed: paused, or no room at its end, for 1 % of the run or more.'));
  const {vertices, links} = topology, servers = [];
  if (links.every(l => useOf(l, which).busy === 0)) {
    place.append(el('p', {class: 'note'}, `What links carried is not known of the executor ${result.executor}.`));
  }
  vertices.forEach((v, i) => {
    if (v[2] < 0) return;
    servers[v[2]] = servers[v[2]] || {id: v[2], busy: 0, name: v[0].includes('.') ? v[0].slice(0, v[0].indexOf('.')) : 'server ' + v[2]};
  });
  for (const l of links) {
    for (const end of [l[0], l[1]]) {
      const s = servers[vertices[end][2]];
      if (s) s.busy += useOf(l, which).busy;
    }
  }
  const list = servers.filter(s => s), busiest = list.reduce((a, b) => b.busy > a.busy ? b : a, list[0]);
  const overview = drawOverview(topology, which, list);
  if (overview) place.append(overview);
  if (!busiest || vertices.filter(v => v[2] === busiest.id).length < 2) return;
  const body = el('div', {});
  const select = el('select', {}, list.map(s => el('option', {value: s.id, selected: s === busiest}, s.name)));
  const redraw = () => body.replaceChildren(el('figure', {class: 'picture', tabindex: '0'}, drawServer(topology, which, Number(select.value)),
    el('figcaption', {}, 'Inside one server. Point at a line for its numbers, or see the table of links.')));
  select.addEventListener('change', redraw);
  if (list.length > 1) place.append(el('div', {class: 'tools'}, el('label', {}, 'Inside server ', select)));
  place.append(body);
  redraw();
}

/// Strips: a row per link, its use over time.
function drawSeries(place, result) {
  const series = result.series;
  if (!series.links || series.links.length === 0) {
    place.append(el('p', {class: 'note'}, several ? `The executor ${result.executor} knows no use of links over time.` : 'The use of links over time was not recorded.'));
    return;
  }
  const queued = series.links.some(link => link.queue.some(bytes => bytes > 0));
  place.append(el('p', {class: 'note'}, `From 0 to ${time(series.end_ns / 1e9)}, in steps of ${time(series.bin_ns / 1e9)}; ` +
    'colours as above, a mark below where a link is held up. On the right ' +
    (queued ? 'the longest queue that a sample has seen.' : 'the share of this time that it is busy.')));
  const grid = el('div', {class: 'bars'});
  for (const link of series.links) {
    const mean = link.busy.reduce((a, b) => a + b, 0) / link.busy.length;
    const canvas = el('canvas', {class: 'strip', width: link.busy.length, height: 16, role: 'img',
      'aria-label': `${link.name}: busy ${percent(mean)} on average, ${percent(Math.max(...link.busy))} at most`});
    grid.append(el('div', {class: 'row'}, el('span', {class: 'name'}, link.name), canvas,
      el('span', {}, queued ? bytes(Math.max(...link.queue)) : percent(mean))));
    canvas.redraw = () => {
      const g = canvas.getContext('2d');
      g.clearRect(0, 0, canvas.width, 16);
      link.busy.forEach((busy, i) => {
        g.fillStyle = color('u' + stepOf(busy));
        g.fillRect(i, 0, 1, 16);
        if (link.held[i] > HELD) { g.fillStyle = color('warn'); g.fillRect(i, 12, 1, 4); }
      });
    };
    canvas.redraw();
  }
  place.append(grid);
}
