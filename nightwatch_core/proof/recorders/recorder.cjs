'use strict';
(() => {
  const fs = require('fs');
  const path = require('path');
  const log = path.join(__dirname, 'raised');
  const watched = new Map();
  for (const row of (process.env.NIGHTWATCH_WATCHED || '').split('\n').filter(Boolean)) {
    const end = row.lastIndexOf(':');
    watched.set(row.slice(0, end), new Set(row.slice(end + 1).split(',').map(Number)));
  }
  const wanted = process.env.NIGHTWATCH_RAISES || '';
  const left = { true: 30, false: 20 };
  const scripts = new Map();
  let session;
  let number = 0;
  try {
    const inspector = require('inspector');
    session = new inspector.Session();
    session.connect();
  } catch {
    return;
  }
  const placed = (url) => {
    try {
      return url.startsWith('file:') ? decodeURIComponent(new URL(url).pathname) : url;
    } catch {
      return url;
    }
  };
  const executed = (script) => {
    const file = placed(script.url);
    const rows = [];
    if (!watched.has(file)) return rows;
    // of nested ranges the innermost decides, and it comes last
    const ranges = script.functions.flatMap((one) => one.ranges);
    let start = 0;
    fs.readFileSync(file, 'utf8').split('\n').forEach((text, at) => {
      const first = start + text.search(/\S|$/);
      start += text.length + 1;
      const inside = ranges.filter((one) => one.startOffset <= first && first < one.endOffset);
      const inner = inside.sort((a, b) => a.endOffset - a.startOffset - b.endOffset + b.startOffset);
      const runs = inner.length && inner[0].count > 0 && text.trim();
      if (runs && watched.get(file).has(at + 1)) {
        rows.push(JSON.stringify({ ran: file, line: at + 1, test: '' }));
      }
    });
    return rows;
  };
  if (watched.size) {
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    process.on('exit', () => {
      session.post('Profiler.takePreciseCoverage', (wrong, answer) => {
        const rows = wrong ? [] : answer.result.flatMap(executed);
        if (rows.length) fs.appendFileSync(log, `${rows.join('\n')}\n`);
      });
    });
    return;
  }
  const isOwn = (file) => file.startsWith('/work/') && !file.includes('/node_modules/');
  const told = (value) => {
    if (!value) return '';
    if (value.type === 'string') return JSON.stringify(String(value.value).slice(0, 120));
    if (value.preview && value.preview.properties) {
      const inner = value.preview.properties.slice(0, 8).map((one) => `${one.name}: ${one.value}`);
      return `${String(value.description).slice(0, 40)} {${inner.join(', ')}}`.slice(0, 400);
    }
    const known = value.description ?? value.unserializableValue ?? value.value;
    return String(known).slice(0, 120);
  };
  const locals = (frames) => {
    const values = [];
    frames.slice(0, 4).forEach((frame, at) => {
      if (!isOwn(frame.file)) return;
      for (const scope of frame.scopes.filter((one) => ['local', 'block'].includes(one.type))) {
        const objectId = scope.object.objectId;
        const asked = { objectId, ownProperties: true, generatePreview: true };
        session.post('Runtime.getProperties', asked, (wrong, answer) => {
          const listed = wrong ? [] : answer.result.slice(0, 12);
          for (const one of listed) values.push([at, one.name, told(one.value)]);
        });
      }
    });
    return values;
  };
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    const data = params.data;
    if (!data || !['exception', 'promiseRejection'].includes(params.reason)) return;
    const frames = params.callFrames.slice(0, 120).map((one) => ({
      file: placed(one.url || scripts.get(one.location.scriptId) || ''),
      line: one.location.lineNumber + 1,
      name: one.functionName,
      scopes: one.scopeChain,
    }));
    const name = String(data.className || '');
    const isWanted = name === wanted;
    if (!frames.some((one) => isOwn(one.file)) || left[isWanted] <= 0) return;
    left[isWanted] -= 1;
    number += 1;
    const said = String(data.description || '').split('\n    at ')[0];
    const record = {
      id: `${process.pid}-${number}`,
      class: name,
      message: said.replace(/^[\w$.]+: /, '').slice(0, 500),
      frames: frames.slice(0, isWanted ? 120 : 8).map((one) => [one.file, one.line, one.name]),
      locals: isWanted ? locals(frames) : [],
    };
    fs.appendFileSync(log, `${JSON.stringify(record)}\n`);
  });
  session.post('Debugger.enable');
  session.post('Debugger.setPauseOnExceptions', { state: 'all' });
})();
