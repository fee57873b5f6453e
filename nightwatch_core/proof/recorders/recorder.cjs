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
  const mapOf = (text) => {
    const found = text.matchAll(/^\/\/[#@] sourceMappingURL=data:[^,\n]*base64,([\w+/=]+)/gm);
    const last = [...found].pop();
    try {
      const { SourceMap } = require('module');
      return last && new SourceMap(JSON.parse(Buffer.from(last[1], 'base64').toString()));
    } catch {
      return undefined;
    }
  };
  // lines of the file, each with an offset in what ran: its source map knows, where it was compiled
  const starts = (text) => {
    const map = mapOf(text);
    const rows = [];
    let start = 0;
    text.split('\n').forEach((row, at) => {
      for (const word of row.matchAll(map ? /\S+/g : /^\s*\S/g)) {
        const line = map ? map.findEntry(at, word.index).originalLine : at;
        const column = map ? word.index : word[0].length - 1;
        if (line >= 0) rows.push([line + 1, start + column]);
      }
      start += row.length + 1;
    });
    return rows;
  };
  const executed = (script) => {
    const file = placed(script.url);
    const rows = [];
    let text = '';
    session.post('Debugger.getScriptSource', { scriptId: script.scriptId }, (wrong, answer) => {
      text = wrong ? fs.readFileSync(file, 'utf8') : answer.scriptSource;
    });
    // of nested ranges the innermost decides, and it comes last
    const ranges = script.functions.flatMap((one) => one.ranges);
    // the head of a function that nobody calls runs as its file is loaded, which says nothing
    const idle = script.functions.map((one) => one.ranges[0]).filter((one) => !one.count);
    const isHead = (first) => idle.some(
      ({ startOffset: at }) => first <= at && !text.slice(first, at).includes('\n'),
    );
    for (const [line, first] of starts(text)) {
      if (!watched.get(file).has(line) || isHead(first)) continue;
      const inside = ranges.filter((one) => one.startOffset <= first && first < one.endOffset);
      const inner = inside.sort((a, b) => a.endOffset - a.startOffset - b.endOffset + b.startOffset);
      if (inner.length && inner[0].count > 0) {
        watched.get(file).delete(line);
        rows.push(JSON.stringify({ ran: file, line, test: '' }));
      }
    }
    return rows;
  };
  const write = () => {
    session.post('Profiler.takePreciseCoverage', (wrong, answer) => {
      const ours = wrong ? [] : answer.result.filter((one) => watched.has(placed(one.url)));
      if (!ours.length) return;
      session.post('Debugger.enable');
      const rows = ours.flatMap(executed);
      session.post('Debugger.disable');
      if (rows.length) fs.appendFileSync(log, `${rows.join('\n')}\n`);
    });
  };
  // a thread that is stopped, as pools of workers do, has no exit: it writes before
  const writeBeforeStops = () => {
    const { BroadcastChannel, Worker, isMainThread, threadId } = require('worker_threads');
    if (!BroadcastChannel) return;
    const waiting = new Map();
    const channel = new BroadcastChannel('nightwatch stops');
    channel.unref();
    channel.onmessage = ({ data }) => {
      if (waiting.has(-data)) waiting.get(-data)();
      if (isMainThread || data !== threadId) return;
      write();
      channel.postMessage(-data);
    };
    const stop = Worker.prototype.terminate;
    Worker.prototype.terminate = async function terminate() {
      const thread = this.threadId;
      const asked = (done) => {
        const timer = setTimeout(done, 2000);
        waiting.set(thread, () => done(clearTimeout(timer)));
        this.once('exit', waiting.get(thread));
        channel.postMessage(thread);
      };
      if (thread > 0) await new Promise(asked);
      return stop.call(this);
    };
  };
  if (watched.size) {
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    process.on('exit', write);
    process.on('SIGTERM', () => process.listenerCount('SIGTERM') > 1 || process.exit(143));
    writeBeforeStops();
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
  // a full stack has no room for us: it is seen once it is unwound, by whoever asks where it was
  if (wanted === 'RangeError') {
    const known = new WeakSet();
    const kept = (error, sites) => {
      const isFull = /call stack size/.test(String(error.message)) && sites.length > 40;
      if (!isFull || known.has(error) || left.true <= 0) return;
      known.add(error);
      left.true -= 1;
      number += 1;
      const shown = [...sites.slice(0, 40), ...sites.slice(40).slice(-60)];
      const record = {
        id: `${process.pid}-${number}`,
        class: 'RangeError',
        message: String(error.message).slice(0, 500),
        frames: shown.map((one) => [
          placed(String(one.getFileName())), one.getLineNumber(), String(one.getFunctionName() || ''),
        ]),
        locals: [],
      };
      fs.appendFileSync(log, `${JSON.stringify(record)}\n`);
    };
    let theirs;
    const ours = (error, sites) => {
      kept(error, sites);
      const few = sites.slice(0, 10);
      return theirs ? theirs(error, few) : [error, ...few].join('\n    at ');
    };
    Error.stackTraceLimit = Infinity;
    Object.defineProperty(Error, 'prepareStackTrace', {
      get: () => ours,
      set: (value) => { theirs = value === ours ? undefined : value; },
    });
  }
  // code that was made as the program ran stands where it was made, as in a printed stack
  session.on('Debugger.scriptParsed', ({ params }) => {
    const made = !params.url && params.stackTrace && params.stackTrace.callFrames[0];
    scripts.set(params.scriptId, made ? [made.url, made.lineNumber] : [params.url]);
  });
  session.on('Debugger.paused', ({ params }) => {
    const data = params.data;
    if (!data || !['exception', 'promiseRejection'].includes(params.reason)) return;
    const frames = params.callFrames.slice(0, 120).map((one) => {
      const [url, line] = scripts.get(one.location.scriptId) || [''];
      return {
        file: placed(one.url || url),
        line: (one.url ? one.location.lineNumber : line ?? one.location.lineNumber) + 1,
        name: one.functionName,
        scopes: one.scopeChain,
      };
    });
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
