// Bars of times and bandwidths, memory over time, hot spots, key figures.

/// How the time of a GPU is divided: columns of the table "breakdown" with their colours and names.
const PARTS = [
  ...Object.keys(KINDS).map(kind =>
    [kind === 'compute' ? 'compute_s' : `exposed_${kind === 'none' ? 'other' : kind}_s`, kind, KINDS[kind]]),
  ['waiting_for_peers_s', 'waiting', 'waiting for peers'], ['bubble_s', 'bubble', 'pipeline bubble'], ['host_s', 'host', 'host']];
const PARTS_NOTE = 'Share of the iteration; communication counts where bytes move and no computation hides them. A GPU waits ' +
  'for peers until all ranks of a communication have joined it. On the right: computation.';

/// A row of bars: name, bar of parts (width in percent, colour, title), text.
function makeBar(name, words, parts, text) {
  return el('div', {class: 'row'}, el('span', {class: 'name'}, name),
    el('div', {class: 'bar', role: 'img', 'aria-label': words},
      parts.map(p => el('span', {style: `background:var(--${p[1]});width:${p[0].toFixed(3)}%`, title: p[2]}))),
    el('span', {class: 'end'}, text));
}

function drawBars(place, result) {
  const MOST = 64, like = new Map(result.timeline.gpus.map(gpu => [gpu.name, gpu]));
  const all = objects(tables.breakdown).filter(row => row.executor === result.executor);
  const rows = all.filter(row => like.has(row.gpu)); // one for all that did the same
  const nameOf = row => nameRow(like.get(row.gpu), result.timeline).title;
  const parts = PARTS.filter(p => p[0] === 'compute_s' || rows.some(row => row[p[0]] > 0));
  const share = (row, name) => row.iteration_s > 0 ? row[name] / row.iteration_s : 0;
  place.append(el('ul', {class: 'legend'}, parts.map(p => el('li', {style: `--swatch:var(--${p[1]})`}, p[2])),
    el('li', {style: '--swatch:var(--idle)'}, 'idle')),
  el('p', {class: 'note'}, PARTS_NOTE + (rows.length > MOST ? ` The first ${MOST} of ${count(rows.length)} rows.` : '')),
  el('div', {class: 'bars'}, rows.slice(0, MOST).map(row => makeBar(nameOf(row),
    `${nameOf(row)}: ${parts.map(p => `${p[2]} ${percent(share(row, p[0]))}`).join(', ')}, idle ${percent(share(row, 'idle_s'))}`,
    parts.map(p => [100 * share(row, p[0]), p[1], `${p[2]}: ${time(row[p[0]])}`]),
    percent(share(row, 'compute_s'))))));
}

/// Achieved against ideal bus bandwidth.
function drawBandwidths(place, result) {
  const MOST = 24;
  const rows = objects(tables.collectives).filter(row => row.executor === result.executor);
  const shown = rows.filter(row => row.ideal_share !== null).slice(0, MOST);
  if (shown.length === 0) {
    place.append(el('p', {class: 'note'}, rows.length === 0 ? 'Nothing was communicated.' :
      'No communication has a bandwidth to compare with.'));
    return;
  }
  place.append(el('p', {class: 'note'}, 'Bus bandwidth achieved, of the ideal that the links of one group allow a ring; ' +
    'what takes most time first.' + (shown.length < rows.length ? ` ${shown.length} of ${rows.length} kinds.` : '')));
  place.append(el('div', {class: 'bars wide'}, shown.map(row => {
    const name = `${count(row.count)} × ${row.collective}${row.parallelism === 'other' ? '' : ' for ' + row.parallelism}, ` +
      `${bytes(row.bytes)}, ${row.ranks} ranks` + (row.servers > 1 ? ` in ${row.servers} servers` : '');
    const text = `${rate(row.busbw_bytes_per_s)} of ${rate(row.ideal_busbw_bytes_per_s)}, ${percent(row.ideal_share)}`;
    return makeBar(name, `${name}: ${text}`, [[100 * Math.min(row.ideal_share, 1), 'u2', text]], text);
  })));
}

function drawMemory(place, result) {
  const gpus = result.memory.filter(gpu => gpu.steps.length > 0 && gpu.peak > 0);
  if (gpus.length === 0) {
    place.append(el('p', {class: 'note'}, 'The graph says nothing of memory.'));
    return;
  }
  const fullest = gpus.reduce((a, b) => b.peak / b.capacity > a.peak / a.capacity ? b : a);
  const end = Math.max(result.timeline.end_ns, 1), height = 240, left = 74, bottom = 22;
  const body = el('figure', {class: 'picture', tabindex: '0'});
  const capacityShown = fullest.peak > 0.45 * fullest.capacity;
  const top = 1.08 * Math.max(...gpus.map(gpu => gpu.peak), capacityShown ? fullest.capacity : 0);
  const draw = () => {
    const width = Math.max(body.clientWidth || 700, 320);
    const x = ns => left + ns / end * (width - left - 12), y = b => 8 + (1 - b / top) * (height - bottom - 8);
    const lines = [], step = niceStep(top, 5);
    for (let b = 0; b <= top; b += step) {
      lines.push(svg('path', {d: `M${left} ${y(b)}H${width - 12}`, style: 'stroke:var(--line)'}),
        svg('text', {class: 'quiet', x: left - 6, y: y(b) + 4, 'text-anchor': 'end'}, b === 0 ? '0' : bytes(b).replace('.00', '')));
    }
    const stepT = niceStep(end, Math.max(width / 130, 2));
    for (let t = 0; t <= end; t += stepT) {
      lines.push(svg('text', {class: 'quiet', x: x(t), y: height - 6, 'text-anchor': t === 0 ? 'start' : x(t) > width - 45 ? 'end' : 'middle'},
        (t / 1e6).toFixed(Math.max(0, -Math.floor(Math.log10(stepT / 1e6) + 1e-9))) + ' ms'));
    }
    const path = gpu => {
      let d = '', level = 0;
      for (let i = 0; i < gpu.steps.length; i += 2) {
        d += `${d ? 'H' + x(gpu.steps[i]).toFixed(1) : 'M' + x(gpu.steps[i]).toFixed(1) + ' ' + y(level).toFixed(1)}V${y(gpu.steps[i + 1]).toFixed(1)}`;
        level = gpu.steps[i + 1];
      }
      return d + 'H' + x(end).toFixed(1);
    };
    for (const gpu of gpus) {
      if (gpu !== fullest) lines.push(svg('path', {d: path(gpu), fill: 'none', style: 'stroke:var(--none);stroke-width:1;opacity:.5'}));
    }
    lines.push(svg('path', {d: path(fullest), fill: 'none', style: 'stroke:var(--data);stroke-width:2'}));
    if (capacityShown) {
      lines.push(svg('path', {d: `M${left} ${y(fullest.capacity)}H${width - 12}`, style: 'stroke:var(--warn);stroke-width:1.5;stroke-dasharray:6 4'}),
        svg('text', {x: left + 6, y: y(fullest.capacity) - 4}, `${bytes(fullest.capacity)}, all there is`));
    }
    const caption = `Allocated bytes over the run: ${fullest.name}, the fullest, in colour, ` +
      `${bytes(fullest.peak)} at most of ${bytes(fullest.capacity)}` + (gpus.length > 1 ? '; others in grey, one line for those that are alike.' : '.');
    body.replaceChildren(svg('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': caption}, lines),
      el('figcaption', {}, caption));
  };
  place.append(body);
  draw();
  let last = body.clientWidth;
  new ResizeObserver(() => {
    if (body.clientWidth !== last) { last = body.clientWidth; draw(); }
  }).observe(body);
}

/// Links in words: no line ends before their arrow.
const arrows = text => text.replace(/ -> /g, '\u00a0→ ');

/// Sentences that differ in names and numbers only are one, with the links of the others.
function drawHotSpots(place) {
  const MOST = 6, NAMED = 8;
  const rows = tables.hot_spots ? objects(tables.hot_spots) : [], alike = new Map();
  for (const row of rows) {
    const key = row.executor + row.sentence.replace(/[0-9.,]+/g, '#').replace(/\b(B|.B|.s)\b/g, '');
    if (alike.has(key)) alike.get(key).others.push(row.link);
    else alike.set(key, {row, others: []});
  }
  place.append(el('ol', {class: 'hot-list'}, [...alike.values()].slice(0, MOST).map(({row, others}) => el('li', {},
    several ? el('span', {class: 'who'}, row.executor + ': ') : '', arrows(row.sentence),
    others.length === 0 ? '' : el('span', {class: 'who'}, ` Much the same: ${arrows(others.slice(0, NAMED).join(', '))}` +
      (others.length > NAMED ? `, and ${others.length - NAMED} more` : '') + '.')))));
  const silent = objects(tables.summary).filter(row => row.quantity === 'congestion' && row.value !== null &&
    !rows.some(other => other.executor === row.executor));
  place.append(...silent.map(row => el('p', {}, several ? el('span', {class: 'who'}, row.executor + ': ') : '', row.value)));
}

function drawFigures(place) {
  place.classList.toggle('several', several);
  const wanted = [['iteration time', 'iteration time'], ['tokens', 'tokens'], ['model FLOP utilisation', 'model FLOP utilisation'],
    ['exposed communication', 'exposed communication'], ['communication hidden behind compute', 'communication hidden'],
    ['peak memory of the fullest GPU', 'peak memory']];
  const rows = objects(tables.summary);
  for (const [quantity, name] of wanted) {
    const found = rows.filter(row => row.quantity === quantity && row.value !== null && !(row.unit === 'B' && row.value === 0));
    if (found.length === 0) continue;
    place.append(el('div', {}, el('dt', {}, name),
      found.map(row => el('dd', {}, format(row.value, row.unit), several ? el('span', {class: 'who'}, ' ' + row.executor) : ''))));
  }
}

function drawComparison(place) {
  if (!tables.comparison) {
    byId('comparison').remove();
    return;
  }
  const names = data.results.map(r => r.executor);
  byId('comparison-title').textContent = (names.join(' against ')).replace(/^./, c => c.toUpperCase());
  place.append(el('p', {class: 'note'}, 'All executors ran the same graph on the same cluster. A packet network simulates every packet; ' +
    'others know links as rates, or communications as times. A difference says how much more the executor finds than ' + names[0] + '.'));
}
