// Bars of the breakdown, memory over time, hot spots, key figures.

function drawBars(place, result) {
  const MOST = 64;
  const rows = objects(tables.breakdown).filter(row => row.executor === result.executor);
  const exposed = Object.keys(KINDS).filter(kind => kind !== 'compute').map(kind =>
    [kind, `exposed_${kind === 'none' ? 'other' : kind}_s`]).filter(e => rows.some(row => row[e[1]] > 0));
  const parts = [['compute', 'compute_s'], ...exposed];
  place.append(makeLegend(parts.map(p => p[0]), [el('li', {style: '--swatch:var(--idle)'}, 'idle')]),
    el('p', {class: 'note'}, 'Share of the iteration; communication counts where no computation hides it. On the right: computation.' +
      (rows.length > MOST ? ` The first ${MOST} of ${count(rows.length)} GPUs.` : '')));
  const grid = el('div', {class: 'bars'});
  for (const row of rows.slice(0, MOST)) {
    const words = parts.map(p => `${KINDS[p[0]]} ${percent(row[p[1]] / row.iteration_s)}`).join(', ');
    grid.append(el('div', {class: 'row'}, el('span', {class: 'name'}, row.gpu),
      el('div', {class: 'bar', role: 'img', 'aria-label': `${row.gpu}: ${words}, idle ${percent(row.idle_s / row.iteration_s)}`},
        parts.map(p => el('span', {style: `background:var(--${p[0]});width:${(100 * row[p[1]] / row.iteration_s).toFixed(3)}%`,
          title: `${KINDS[p[0]]}: ${time(row[p[1]])}`}))),
      el('span', {}, percent(row.compute_s / row.iteration_s))));
  }
  place.append(grid);
}

function drawMemory(place, result) {
  const gpus = result.memory.filter(gpu => gpu.steps.length > 0);
  if (gpus.length === 0) {
    place.append(el('p', {class: 'note'}, 'The graph has no memory tasks.'));
    return;
  }
  const fullest = gpus.reduce((a, b) => b.peak / b.capacity > a.peak / a.capacity ? b : a);
  const end = Math.max(result.timeline.end_ns, 1), height = 240, left = 74, bottom = 22;
  const body = el('figure', {class: 'picture'});
  const capacityShown = fullest.peak > 0.45 * fullest.capacity;
  const top = 1.08 * Math.max(...gpus.map(gpu => gpu.peak), capacityShown ? fullest.capacity : 0);
  const draw = () => {
    const width = Math.max(body.clientWidth || 700, 320);
    const x = ns => left + ns / end * (width - left - 12), y = b => 8 + (1 - b / top) * (height - bottom - 8);
    const lines = [], step = niceStep(top, 5);
    for (let b = 0; b <= top; b += step) {
      lines.push(svg('path', {d: `M${left} ${y(b)}H${width - 12}`, style: 'stroke:var(--line)'}),
        svg('text', {class: 'quiet', x: left - 6, y: y(b) + 4, 'text-anchor': 'end'}, bytes(b)));
    }
    const stepT = niceStep(end, Math.max(width / 130, 2));
    for (let t = 0; t <= end; t += stepT) {
      lines.push(svg('text', {class: 'quiet', x: x(t), y: height - 6, 'text-anchor': t === 0 ? 'start' : 'middle'},
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
    const caption = `Allocated bytes over the iteration: ${fullest.name}, the fullest, in colour, ` +
      `${bytes(fullest.peak)} at most of ${bytes(fullest.capacity)}` + (gpus.length > 1 ? `; ${gpus.length - 1} others in grey.` : '.');
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

function drawHotSpots(place) {
  const MOST = 5;
  const rows = tables.hot_spots ? objects(tables.hot_spots) : [];
  const sentences = objects(tables.summary).filter(row => row.quantity === 'congestion');
  if (rows.length === 0) {
    place.append(...sentences.map(row => el('p', {}, (several ? row.executor + ': ' : '') + row.value)));
    return;
  }
  place.append(el('ol', {class: 'hot-list'}, rows.slice(0, MOST).map(row =>
    el('li', {}, (several ? row.executor + ': ' : '') + row.sentence))));
}

function drawFigures(place) {
  const wanted = [['iteration time', 'iteration time'], ['tokens', 'tokens'], ['model FLOP utilisation', 'model FLOP utilisation'],
    ['exposed communication', 'exposed communication'], ['communication hidden behind compute', 'communication hidden'],
    ['peak memory of the fullest GPU', 'peak memory']];
  const rows = objects(tables.summary);
  for (const [quantity, name] of wanted) {
    const found = rows.filter(row => row.quantity === quantity && row.value !== null);
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
