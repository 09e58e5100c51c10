// Puts the page together.

document.querySelectorAll('[data-table]').forEach(placeTable);
drawFigures(byId('figures'));
withExecutor(byId('bars'), drawBars);
withExecutor(byId('timeline-body'), drawTimeline);
withExecutor(byId('bandwidth-body'), drawBandwidths);
withExecutor(byId('topology-body'), drawTopology);
withExecutor(byId('series-body'), drawSeries);
drawHotSpots(byId('hot-spots-body'));
withExecutor(byId('memory-body'), drawMemory);
drawComparison(byId('comparison-body'));
byId('command').textContent = objects(tables.run).find(row => row.item === 'command').value;
const configuration = JSON.parse(byId('configuration').textContent);
byId('options').textContent = JSON.stringify(configuration, null, 1);
document.querySelectorAll('main > section').forEach(section =>
  byId('contents').append(el('li', {}, el('a', {href: '#' + section.id}, section.querySelector('h2').textContent))));

function redrawCanvases() {
  timelineViews.forEach(view => view.draw());
  document.querySelectorAll('canvas.strip').forEach(canvas => canvas.redraw());
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawCanvases);
addEventListener('beforeprint', () => {
  document.documentElement.classList.add('print');
  document.querySelectorAll('details').forEach(d => { d.dataset.was = d.open; d.open = true; });
  redrawCanvases();
});
addEventListener('afterprint', () => {
  document.documentElement.classList.remove('print');
  document.querySelectorAll('details').forEach(d => { d.open = d.dataset.was === 'true'; });
  redrawCanvases();
});
document.documentElement.dataset.ready = String(Math.round(performance.now())); // ms since it was opened
