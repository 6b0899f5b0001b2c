// `npm start`: the example toolset at work on a little project, each call a process of its own;
// then the dashboard over three runs.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { openDashboard } from './demo/dashboard.mjs'
import { makeSampleFolder } from './sample-folder.mjs'

const program = fileURLToPath(new URL('../examples/file-tools/file-tools.mjs', import.meta.url))
const { folder, remove } = makeSampleFolder()
let failures = 0

try {
  runSteps()
  await showDashboard()
} finally {
  remove()
}
if (failures > 0) {
  console.error(paint('red', `${failures} of the steps went wrong.`))
  process.exit(1)
}

function runSteps() {
  console.log(
    '\nOne definition for each tool (examples/file-tools/), and this is what comes of it.',
  )

  title('What is there?')
  expect(showJson(call(['--discover'])).tools?.length === 10, 'ten tools')

  title('One tool in detail')
  expect(
    showJson(call(['find-files', '--manifest'])).schema?.required?.[0] === 'pattern',
    'the pattern is required',
  )

  title('A call by flags, as a person at a terminal sees it')
  const text = call(['find-files', '*.js', '--root', 'src', '-o', 'text'])
  showText(text)
  expect(text.stdout.includes('ask.js'), 'a table with ask.js')

  title('The same call as JSON, as an agent makes it')
  const found = showJson(call(['find-files', '{"pattern":"*.js","root":"src"}']))
  expect(found.ok === true && found.result.length === 3, 'three files')

  title('A stream: events while the tool works, the result at the end')
  const events = call(['index-files', '--stream'])
  showLines(events)
  expect(
    JSON.parse(events.stdout.trim().split('\n').at(-1) ?? '{}').ok === true,
    'a result at the end',
  )

  title('A call that fails, and says how to repair it')
  const failed = call(['find-files', '*.ts', '-o', 'json'], 1)
  const { suggestion } = showJson(failed).error ?? {}
  expect(suggestion?.example === "file-tools find-files '*.js'", 'a suggestion')

  title('The repaired call, pasted from the suggestion')
  const repaired = call(wordsOf(suggestion?.example ?? '').slice(1))
  expect(showJson(repaired).ok === true, 'the suggestion works')

  title('A destructive tool: first the plan, then not without a yes')
  showText(call(['delete-files', '*.tmp', '--dry-run', '-o', 'text']))
  showText(call(['delete-files', '*.tmp', '-o', 'text'], 77))

  console.log(
    `\nAll of this is in ${paint('bold', 'examples/file-tools/')}; the documentation begins in ${paint('bold', 'README.md')}.`,
  )
}

// A person stays as long as he likes; where nobody looks on, it ends with the run that goes on.
async function showDashboard() {
  title('Runs in the browser: one is over, one goes on, one waits for you')
  console.log(paint('cyan', '$ toolable ui'))
  const dashboard = await openDashboard(environment())
  try {
    console.log(`The dashboard is at ${paint('bold', dashboard.url)}`)
    if (process.stdout.isTTY) {
      console.log('Ctrl-C ends it.')
      await new Promise((settle) => {
        process.once('SIGINT', settle).once('SIGTERM', settle)
        dashboard.server.once('close', settle)
      })
    } else {
      const { state } = JSON.parse(
        dashboard.call(['watch', dashboard.live, '-o', 'jsonl']).trim().split('\n').at(-1),
      )
      expect(state === 'completed', 'the run that goes on to be completed')
      console.log(
        `${dashboard.live} is ${state}; ${dashboard.waiting} waits for an answer, and is cancelled now.`,
      )
    }
  } finally {
    await dashboard.close()
  }
  console.log('')
}

function title(text) {
  console.log(`\n${paint('bold', text)}`)
}

function call(argv, expected = 0) {
  console.log(paint('cyan', `$ file-tools ${argv.map(quote).join(' ')}`))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    cwd: folder,
    env: environment(),
    encoding: 'utf8',
    timeout: 30_000,
  })
  expect(status === expected, `exit status ${expected}, got ${status}: ${stderr}`)
  return { status, stdout, stderr }
}

// What the machine says about agents, colours and settings is left out: the demonstration looks the
// same everywhere.
function environment() {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR'].filter(
    (name) => process.env[name] !== undefined,
  )
  return {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
    HOME: folder,
    ...(wantsColor() && { FORCE_COLOR: '1' }),
  }
}

function showText({ status, stdout, stderr }) {
  console.log(`${stdout}${stderr}`.trimEnd())
  if (status !== 0) console.log(paint('dim', `(exit ${status})`))
}

function showJson({ status, stdout }) {
  const document = readJson(stdout)
  console.log(foldLines(pretty(document).split('\n'), 30).join('\n'))
  if (status !== 0) console.log(paint('dim', `(exit ${status})`))
  return document
}

function readJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    expect(false, 'one JSON document on stdout')
    return {}
  }
}

function showLines({ stdout }) {
  console.log(stdout.trimEnd())
}

// What fits on a line stands on a line.
function pretty(value, indent = '') {
  const short = JSON.stringify(value)
  if (short.length + indent.length <= 130 || typeof value !== 'object' || value === null)
    return short
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const parts = Object.entries(value).map(
    ([key, item]) =>
      `${inner}${Array.isArray(value) ? '' : `${JSON.stringify(key)}: `}${pretty(item, inner)}`,
  )
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

function foldLines(lines, most) {
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most), paint('dim', `… ${lines.length - most} more lines`)]
}

function expect(condition, what) {
  if (condition) return
  failures++
  console.error(paint('red', `  expected ${what}`))
}

// Suggestions are quoted for a POSIX shell; this demonstration needs none.
function wordsOf(command) {
  return [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, plain]) => plain ?? quoted.replaceAll(`'\\''`, "'"),
  )
}

function quote(word) {
  return /^[\w./=-]+$/.test(word) ? word : `'${word}'`
}

function wantsColor() {
  return Boolean(process.stdout.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}

function paint(style, text) {
  return wantsColor() ? styleText(style, text) : text
}
