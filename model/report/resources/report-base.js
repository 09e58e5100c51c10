'use strict';
// Elements, numbers and tables. All text goes into the page as text, never as markup.

const data = JSON.parse(document.getElementById('data').textContent);
const tables = Object.fromEntries(data.tables.map(table => [table.name, table]));
const several = data.results.length > 1;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
const byId = id => document.getElementById(id);
const color = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// ------------------------------------------------------------------- numbers

function scaled(value, units, decimals) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= 999.9995) { value /= 1000; ++i; }
  return value.toFixed(i === 0 ? 0 : decimals) + '\u00a0' + units[i];
}

const time = s => s === 0 ? '0\u00a0s' : scaled(s * 1e12, ['ps', 'ns', 'µs', 'ms', 's'], 3);
const bytes = b => scaled(b, ['B', 'kB', 'MB', 'GB', 'TB', 'PB'], 2);
const rate = r => scaled(r, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s'], 2);
const percent = share => (100 * share).toFixed(1) + '\u00a0%';
const difference = share => (share > 0 ? '+' : '') + (100 * share).toFixed(2) + '\u00a0%';
const count = n => n.toLocaleString('en-US', {maximumFractionDigits: 1});

function format(value, unit) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value;
  switch (unit) {
    case 's': return time(value);
    case 'B': return bytes(value);
    case 'B/s': return rate(value);
    case 'share': return percent(value);
    case 'FLOP': case 'FLOP/s':
      return scaled(value, ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'], 2) + unit;
    case '': return count(value);
    case '1/s': return count(value >= 100 ? Math.round(value) : value) + '\u00a0/s';
    default: return count(value) + '\u00a0' + unit;
  }
}

// -------------------------------------------------------------------- tables

const ROW_HEADER = {
  breakdown: 'gpu', memory: 'gpu', links: 'link', hot_spots: 'link', phases: 'phase',
  collectives: 'collective', summary: 'quantity', run: 'item', comparison: 'quantity'};
const LABELS = {payload_bytes_per_s: 'payload rate', bytes: 'size', busbw_bytes_per_s: 'bus bandwidth',
  algbw_bytes_per_s: 'algorithm bandwidth', ideal_busbw_bytes_per_s: 'ideal bus bandwidth',
  ideal_share: 'of ideal', gpu: 'GPU', gpus: 'GPUs', peak_bytes: 'peak', peak_s: 'reached at',
  wire_bytes: 'on the wire', payload_bytes: 'payload', hidden_share: 'hidden',
  rate_bytes_per_s: 'raw rate', max_queue_bytes: 'longest queue', drain_s: 'time to drain',
  used_share: 'used', mean_s: 'mean time', least_s: 'shortest', most_s: 'longest', wait_s: 'wait for others'};

const label = name =>
  LABELS[name] || name.replace(/_(bytes_per_s|bytes|share|s)$/, '').replace(/_/g, ' ');

/// The cells of a column of a table.
function column(table, name) {
  const i = table.columns.findIndex(c => c[0] === name);
  return table.rows.map(row => row[i]);
}

/// Rows as objects.
const objects = table => table.rows.map(row =>
  Object.fromEntries(row.map((cell, i) => [table.columns[i][0], cell])));

function isHidden(table, i) {
  const name = table.columns[i][0];
  if (name === 'executor') return !several;
  return /^(exposed|waiting|bubble|host).*_s$|^(marked|lost|dropped)_packets$|^pause/.test(name) &&
    table.rows.every(row => row[i] === 0 || row[i] === null);
}

function makeCell(table, row, i, hidden) {
  const value = row[i];
  let unit = table.columns[i][1];
  if (table.name === 'summary' && table.columns[i][0] === 'value') unit = row[i + 1];
  const isNumber = typeof value === 'number';
  const isShare = isNumber && unit === 'share' && value >= 0 && value <= 1.5 &&
    table.name !== 'summary' && table.name !== 'comparison';
  const isHeader = table.columns[i][0] === ROW_HEADER[table.name];
  return el(isHeader ? 'th' : 'td', {
    scope: isHeader ? 'row' : undefined,
    class: isNumber || value === null ? (isShare ? 'number share' : 'number') : undefined,
    style: isShare ? '--share:' + Math.min(value, 1).toFixed(4) : undefined,
    'data-value': value === null ? '' : String(value),
    hidden: hidden[i]},
    isNumber && table.name === 'comparison' && unit === 'share' ? difference(value) : format(value, unit));
}

/// Puts the rows in order of a column; equal ones stay as they are.
function sortBy(table, body, head, i, makeRow) {
  const up = head.getAttribute('aria-sort') === 'descending';
  for (const other of head.parentNode.children) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  const rows = [...table.rows].sort((a, b) => {
    const x = a[i], y = b[i];
    const order = typeof x === 'string' || typeof y === 'string' ?
      String(x).localeCompare(String(y), 'en', {numeric: true}) : (x || 0) - (y || 0);
    return up ? order : -order;
  });
  body.replaceChildren(...rows.map(makeRow));
}

function makeTable(table) {
  const hidden = table.columns.map((c, i) => isHidden(table, i));
  const makeRow = row => el('tr', {}, row.map((cell, i) => makeCell(table, row, i, hidden)));
  const body = el('tbody', {}, table.rows.map(makeRow));
  const sortable = table.rows.length > 8;
  const heads = table.columns.map((c, i) => {
    const isNumber = table.rows.some(row => typeof row[i] === 'number');
    const head = el('th', {scope: 'col', class: isNumber ? 'number' : undefined, title: c[2], hidden: hidden[i]});
    if (!sortable) {
      head.append(label(c[0]));
      return head;
    }
    const button = el('button', {type: 'button'}, label(c[0]));
    button.addEventListener('click', () => sortBy(table, body, head, i, makeRow));
    head.append(button);
    return head;
  });
  const rest = table.total - table.rows.length;
  const caption = el('caption', {}, el('b', {}, table.title + '. '), table.description,
    rest > 0 ? ` The first ${table.rows.length} of ${count(table.total)} rows; --tables=DIR writes all.` : '');
  const tall = table.rows.length > 24;
  return el('div', {class: 'scroll' + (tall ? ' tall' : ''), tabindex: '0', role: 'region', 'aria-label': 'Table: ' + table.title},
    el('table', {id: 'table-' + table.name}, caption, el('thead', {}, el('tr', {}, heads)), body));
}

function explainColumns(table) {
  return el('details', {class: 'explain'}, el('summary', {}, 'What the columns mean'),
    el('dl', {class: 'columns'}, table.columns.map((c, i) =>
      isHidden(table, i) ? [] : [el('dt', {}, label(c[0])), el('dd', {}, c[2] + '.')])));
}

/// Fills an element with data-table; folded if it has data-fold.
function placeTable(place) {
  const table = tables[place.dataset.table];
  if (!table || table.rows.length === 0) return;
  const parts = [makeTable(table)];
  if (table.columns.length > 3) parts.push(explainColumns(table));
  if (place.dataset.fold) {
    place.append(el('details', {}, el('summary', {}, place.dataset.fold), parts));
  } else {
    place.append(...parts);
  }
}

/// A choice between executors; calls draw with the result, now and later.
function withExecutor(place, draw) {
  const target = el('div', {});
  if (several) {
    const select = el('select', {}, data.results.map((r, i) => el('option', {value: i}, r.executor)));
    select.addEventListener('change', () => { target.replaceChildren(); draw(target, data.results[select.value]); });
    const printed = el('p', {class: 'note printed'}, `Executor ${data.results[0].executor}.`);
    select.addEventListener('change', () => { printed.textContent = `Executor ${data.results[select.value].executor}.`; });
    place.append(el('div', {class: 'tools'}, el('label', {}, 'Executor ', select)), printed);
  }
  place.append(target);
  draw(target, data.results[0]);
}

const KINDS = {compute: 'computation', tensor: 'tensor parallelism', sequence: 'sequence parallelism',
  context: 'context parallelism', expert: 'expert parallelism', pipeline: 'pipeline parallelism',
  embedding: 'tied embeddings', data: 'data parallelism', none: 'other communication'};

function makeLegend(kinds, extra) {
  return el('ul', {class: 'legend'},
    kinds.map(kind => el('li', {style: `--swatch:var(--${kind})`}, KINDS[kind])), extra || []);
}
