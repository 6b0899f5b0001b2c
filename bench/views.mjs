// How soon what a tool says stands in the browser, what a page costs over many runs, and what the
// server holds in memory. Growth is shown by folders of 100, 1,000 and 10,000 runs.
import { spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { chromium } from 'playwright-core'
import { formatTable } from './measure.mjs'

const toolable = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
const tick = fileURLToPath(new URL('./views/tick.mjs', import.meta.url))
const TICKS = 60
const BETWEEN_MS = 120
const environment = { PATH: process.env.PATH, HOME: process.env.HOME }
const { makeRuns } = await loadTypeScript(
  new URL('../test/views/support/make-runs.ts', import.meta.url),
)

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-dev-shm-usage',
    '--disable-gpu',
  ],
})
const rows = [
  [
    'runs in the folder',
    'server ready',
    'all runs known',
    'first page',
    'page again',
    'to the pixel p50',
    'p95',
    'server memory',
  ],
]
try {
  for (const count of [100, 1000, 10_000]) rows.push(await measure(count))
} finally {
  await browser.close()
}
console.log(
  '\nDashboard: times in milliseconds; "to the pixel" is from the clock of the tool, before it writes its event, to the frame in which the page shows it',
)
console.log(formatTable(rows))
console.log(
  `clock for comparison: an empty page of Chromium loads in ${rows.empty} ms on this machine`,
)

async function measure(count) {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-bench-views-'))
  mkdirSync(join(folder, 'tools/registry/tick'), { recursive: true })
  mkdirSync(join(folder, 'tools/tick'), { recursive: true })
  writeFileSync(join(folder, 'toolable.yaml'), 'folders: [tools]\n')
  writeFileSync(
    join(folder, 'tools/registry/tick/tool.yaml'),
    'name: tick\nversion: 1.0.0\nentry: cli.mjs\nprotocol_version: 1\n',
  )
  writeFileSync(join(folder, 'tools/tick/cli.mjs'), readFileSync(tick), { mode: 0o755 })
  makeRuns(join(folder, '.runs'), { count })
  let server
  try {
    const begin = performance.now()
    server = spawn(process.execPath, [toolable, 'ui', '--port', '0'], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const url = await untilListening(server)
    const ready = performance.now() - begin
    const ask = async (path) =>
      (
        await fetch(new URL(path, url), {
          headers: { authorization: `Bearer ${url.searchParams.get('token')}` },
        })
      ).json()
    while (!(await ask('/api/runs?limit=1')).complete) await pause(5)
    const complete = performance.now() - begin
    const context = await browser.newContext()
    const page = await context.newPage()
    rows.empty ??= await timed(() => page.goto('data:text/html,<p>empty</p>'))
    const load = async (path) =>
      timed(async () => {
        await page.goto(new URL(path, url).href)
        await page.getByRole('row').nth(5).waitFor()
      })
    const first = await load(`/runs${url.search}`)
    const again = await load('/runs')
    const latencies = await watchTicks(folder, page, url)
    const memory = Number(
      /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1],
    )
    await context.close()
    return [
      String(count),
      ...[ready, complete, first, again, percentile(latencies, 50), percentile(latencies, 95)].map(
        (value) => String(Math.round(value)),
      ),
      `${Math.round(memory / 1024)} MB`,
    ]
  } finally {
    if (server) {
      server.kill('SIGTERM')
      await new Promise((settle) =>
        server.exitCode === null ? server.once('close', settle) : settle(),
      )
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

async function watchTicks(folder, page, url) {
  const run = spawn(
    process.execPath,
    [toolable, 'run', '--detach', 'tick', String(TICKS), String(BETWEEN_MS)],
    { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let said = ''
  run.stdout.setEncoding('utf8').on('data', (text) => (said += text))
  await new Promise((settle) => run.once('close', settle))
  const { run_id: id } = JSON.parse(said).result
  await page.goto(new URL(`/runs/${id}`, url).href)
  await page.getByText(id).first().waitFor()
  // The clock of the page is the clock of the machine.
  return page.evaluate(
    (wanted) =>
      new Promise((settle) => {
        const seen = new Map()
        const look = () => {
          const at = performance.timeOrigin + performance.now()
          for (const [, number, said] of document.body.textContent.matchAll(
            /tick (\d+) at (\d+) ms/g,
          ))
            if (!seen.has(number)) seen.set(number, at - Number(said))
          if (seen.size >= wanted) settle([...seen.values()])
        }
        new MutationObserver(() => requestAnimationFrame(look)).observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
        })
        // Some may share a frame.
        setTimeout(() => settle([...seen.values()]), 60_000)
      }),
    TICKS * 0.9,
  )
}

async function timed(work) {
  const begin = performance.now()
  await work()
  return Math.round(performance.now() - begin)
}

function percentile(values, share) {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? NaN
}

function untilListening(server) {
  return new Promise((settle, refuse) => {
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text) => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/\S*?token=[\w-]+/.exec((said += text))?.[0]
      if (url !== undefined) settle(new URL(url))
    })
    server.once('close', (status) =>
      refuse(new Error(`the dashboard ended with ${status}: ${said}`)),
    )
  })
}

// Node 20 runs no TypeScript.
function loadTypeScript(url) {
  const { code } = transformSync(readFileSync(url, 'utf8'), { loader: 'ts', format: 'esm' })
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
}
