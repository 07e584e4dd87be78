// What pages do beyond being read: they stay up to date without moving, answer to keys, and follow logs.
// Everything is there without it but the comfort.
'use strict';
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const html = document.documentElement;
  html.classList.add('script');

  // The server's clock, whatever this machine's says.
  const ahead = Number(document.body.dataset.now || Date.now()) - Date.now();
  const now = () => Date.now() + ahead;

  // --- Times, as lengths from now -------------------------------------------------------------
  const two = (large, unit, small, less) => small ? `${large} ${unit} ${small} ${less}` : `${large} ${unit}`;
  const words = (ms) => {
    const s = Math.floor(ms / 1000);
    if (s < 1) return `${Math.floor(ms)} ms`;
    if (s < 60) return `${s} s`;
    if (s < 3600) return two(Math.floor(s / 60), 'm', s % 60, 's');
    if (s < 86400) return two(Math.floor(s / 3600), 'h', Math.floor(s % 3600 / 60), 'm');
    return two(Math.floor(s / 86400), 'd', Math.floor(s % 86400 / 3600), 'h');
  };
  const tell = () => all('time[datetime]:not([data-plain])').forEach((time) => {
    const apart = now() - Date.parse(time.dateTime);
    const text = apart < 0 ? `in ${words(-apart)}` : `${words(apart)} ago`;
    if (time.textContent !== text) time.textContent = text;
    if (!time.dataset.local) {
      time.dataset.local = 'yes';
      time.title += ` · ${new Date(time.dateTime).toLocaleString()} here`;
    }
  });
  const tellLocal = () => all('[data-local]:not(time)').forEach((cell) => {
    if (!cell.textContent) cell.textContent = new Date(cell.dataset.local).toLocaleString(undefined, {weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit'});
  });
  setInterval(tell, 1000);

  // --- Up to date in place: only what is different is touched ----------------------------------
  const kept = (node) => node.nodeType === 1 && (node.hasAttribute('data-keep') || node.matches('details.act[open], dialog[open]'));
  const ours = (node) => node.nodeType === 1 && node.hasAttribute('data-keep') && !node.id; // not of the server's page
  const same = (a, b) => !ours(a) && a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || '') === (b.id || '');
  // What stands for it already: by its id, or the next of its kind, past what is only ours or white space.
  const counterpart = (old, at, next) => {
    if (next.id) {
      const known = [...old.children].find((child) => child.id === next.id);
      return known && same(known, next) ? known : null;
    }
    let here = at;
    while (here && (ours(here) || (here.nodeType !== 1 && next.nodeType === 1))) here = here.nextSibling;
    return here && same(here, next) ? here : null;
  };
  const morph = (old, fresh) => {
    if (kept(old)) return;
    if (old.nodeType !== 1) {
      if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const {name} of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== 'open' && name !== 'data-local' && !(old.matches('tr') && name === 'class')) old.removeAttribute(name);
    }
    for (const {name, value} of [...fresh.attributes]) {
      const mine = (name === 'open' && old.matches('details')) || (name === 'class' && old.matches('tr.at')) || (name === 'title' && old.matches('time'));
      if (!mine && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (old.matches('time') && !old.hasAttribute('data-plain')) return; // told by the clock above
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      const match = counterpart(old, at, next);
      if (!match) {
        old.insertBefore(next, at);
        continue;
      }
      while (at && at !== match && (at.nodeType !== 1 || ours(at))) {
        const after = at.nextSibling;
        if (!ours(at)) at.remove(); // white space between what comes and goes
        at = after;
      }
      if (at !== match) old.insertBefore(match, at);
      morph(match, next);
      at = match.nextSibling;
    }
    while (at) {
      const after = at.nextSibling;
      if (!kept(at)) at.remove();
      at = after;
    }
  };
  htmx.defineExtension('keep', {
    isInlineSwap: (style) => style === 'keep',
    handleSwap: (style, target, fragment) => {
      if (style !== 'keep') return false;
      for (const fresh of [...fragment.children]) {
        const old = fresh.id && document.getElementById(fresh.id);
        if (old) morph(old, fresh);
      }
      tell();
      charts();
      chosen();
      return [];
    },
  });
  document.body.addEventListener('htmx:responseError', (event) => {
    if (event.detail.xhr.status === 401) location.reload();
  });

  // --- Hints that something changed ------------------------------------------------------------
  const live = $('#live');
  let missed = false;
  let last = 0;
  const changed = () => {
    if (document.hidden || performance.now() - last < 2000) { missed = true; return; }
    missed = false;
    last = performance.now();
    document.body.dispatchEvent(new CustomEvent('changed'));
  };
  if (live) {
    const events = new EventSource('/ui/events');
    events.addEventListener('hello', () => { live.className = 'live on'; live.title = 'Live: this page follows what happens'; });
    events.addEventListener('changed', changed);
    events.onerror = () => { live.className = 'live off'; live.title = 'Not live: the server does not answer; trying again'; };
    addEventListener('pagehide', () => events.close());
    document.addEventListener('visibilitychange', () => { if (missed) changed(); });
    setInterval(changed, 5000); // a hint may be late, where whoever wrote has nothing more to do
  }

  // --- Light or dark ---------------------------------------------------------------------------
  const theme = () => {
    const dark = html.dataset.theme ? html.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    html.dataset.theme = dark ? 'light' : 'dark';
    document.cookie = `holdfast_theme=${html.dataset.theme}; Path=/ui; Max-Age=31536000; SameSite=Strict`;
  };
  $('#theme')?.addEventListener('click', theme);
  $('#keys')?.addEventListener('click', () => $('#help').showModal());
  $('#tenant')?.addEventListener('change', (event) => event.target.form.submit());

  // --- Selecting -------------------------------------------------------------------------------
  const boxes = () => all('#rows input[name=id]');
  const chosen = () => {
    const count = boxes().filter((box) => box.checked).length;
    if ($('#chosen')) $('#chosen').textContent = count ? `${count} selected` : '';
  };
  $('#every')?.addEventListener('change', (event) => { boxes().forEach((box) => { box.checked = event.target.checked; }); chosen(); });
  document.addEventListener('change', (event) => { if (event.target.matches('#rows input')) chosen(); });

  // --- Copying ---------------------------------------------------------------------------------
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]');
    if (button) {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    } else if (!event.target.closest('details.act')) {
      all('details.act[open]').forEach((act) => { act.open = false; });
    }
  });

  // --- Keys ------------------------------------------------------------------------------------
  let going = false;
  const rows = () => all('tbody tr').filter((row) => $('a', row));
  const move = (by) => {
    const list = rows();
    if (!list.length) return;
    const at = list.findIndex((row) => row.classList.contains('at'));
    list.forEach((row) => row.classList.remove('at'));
    const next = list[Math.min(list.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by))];
    next.classList.add('at');
    next.scrollIntoView({block: 'nearest'});
    $('a', next).focus({preventScroll: true});
  };
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { all('details.act[open]').forEach((act) => { act.open = false; $('summary', act).focus(); }); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input:not([type=checkbox]), select, textarea')) return;
    if (going) {
      going = false;
      const link = all('nav.side a').find((each) => each.dataset.key === event.key);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    const act = {
      '/': () => $('#find').focus(),
      '?': () => $('#help').showModal(),
      g: () => { going = true; setTimeout(() => { going = false; }, 1500); },
      j: () => move(1),
      k: () => move(-1),
      t: theme,
      x: () => { const box = $('tr.at input[name=id]'); if (box) { box.checked = !box.checked; chosen(); } },
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  // --- Logs ------------------------------------------------------------------------------------
  const lines = $('#lines');
  if (lines) {
    const follow = $('#follow');
    const find = $('#logfind');
    const show = (line) => {
      const asked = find.value.toLowerCase();
      const span = $('span', line);
      const text = span.textContent;
      const at = asked ? text.toLowerCase().indexOf(asked) : -1;
      line.classList.toggle('miss', Boolean(asked) && at < 0);
      span.replaceChildren(text);
      if (at >= 0) {
        const mark = document.createElement('mark');
        mark.textContent = text.slice(at, at + asked.length);
        span.replaceChildren(text.slice(0, at), mark, text.slice(at + asked.length));
      }
      return at >= 0;
    };
    find.addEventListener('input', () => {
      const found = all('li', lines).filter(show).length;
      $('#logfound').textContent = find.value ? `${found} lines` : '';
    });
    const end = () => { if (follow.checked) lines.scrollTop = lines.scrollHeight; };
    follow.addEventListener('change', end);
    lines.addEventListener('wheel', () => { follow.checked = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 40; });
    const add = (line) => {
      const item = document.createElement('li');
      const time = document.createElement('time');
      time.dateTime = line.at;
      time.dataset.plain = '';
      time.textContent = new Date(line.at).toISOString().slice(11, 23);
      const span = document.createElement('span');
      span.textContent = line.line;
      item.append(time, span);
      lines.append(item);
      show(item);
      while (lines.children.length > 5000) lines.firstChild.remove();
    };
    end();
    if (lines.dataset.follow) {
      const stream = new EventSource(lines.dataset.follow);
      stream.addEventListener('log', (event) => {
        $('#nolog')?.remove();
        JSON.parse(event.data).logs.forEach(add);
        end();
      });
      stream.addEventListener('end', () => { stream.close(); changed(); });
      addEventListener('pagehide', () => stream.close());
    }
  }

  // --- What is under the pointer, on charts ----------------------------------------------------
  function charts() {
    all('.plot').forEach((plot) => {
      if (plot.onpointermove) return;
      plot.onpointermove = (event) => {
        const {at, lines: said} = JSON.parse(plot.dataset.points);
        const box = plot.getBoundingClientRect();
        const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
        const i = Math.round(share * (at.length - 1));
        let cross = $('.cross', plot);
        if (!cross) {
          cross = document.createElement('div');
          cross.className = 'cross';
          cross.dataset.keep = '';
          const tip = document.createElement('div');
          tip.className = 'tip';
          tip.dataset.keep = '';
          plot.append(cross, tip);
        }
        const x = at.length > 1 ? i / (at.length - 1) * box.width : 0;
        cross.style.left = `${x}px`;
        const tip = $('.tip', plot);
        tip.textContent = [new Date(at[i] * 1000).toLocaleTimeString(), ...said.map((line) => `${line.name}  ${line.said[i]}`)].join('\n');
        tip.style.left = share > .6 ? 'auto' : `${x + 10}px`;
        tip.style.right = share > .6 ? `${box.width - x + 10}px` : 'auto';
      };
      plot.onpointerleave = () => all('.cross, .tip', plot).forEach((each) => each.remove());
    });
  }

  tell();
  tellLocal();
  charts();
})();
