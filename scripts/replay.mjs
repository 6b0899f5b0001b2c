// `node scripts/replay.mjs`: sends the requests in test/recorded/requests to the built programs and
// compares the answers with those in test/recorded/answers.
//
//   --record         write the answers instead of comparing them
//   --only <text>    only requests whose area or title contains the text
//   --root <folder>  another checkout whose build answers; default: this one
//   --jobs <number>  flows at the same time; default 3
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { describeDifference, readAnswers, writeAnswers } from './replay/answers.mjs'
import { readFlows } from './replay/requests.mjs'
import { runFlow } from './replay/run-flow.mjs'

const here = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const recorded = join(here, 'test/recorded')
const { values: options } = parseArgs({
  options: {
    record: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    root: { type: 'string', default: here },
    jobs: { type: 'string', default: '3' },
  },
})

const started = performance.now()
const flows = readFlows(join(recorded, 'requests')).filter(isChosen)
if (flows.length === 0) throw new Error(`no request contains '${options.only}'`)
const given = await runAll()
if (options.record) record()
else compare()

// A flow is run as a whole: its later steps need the earlier ones.
function isChosen({ area, name, steps }) {
  const texts = [area, name, ...steps.map((step) => step.title ?? step.run ?? step.request)]
  return options.only === '' || texts.some((text) => text?.includes(options.only))
}

/** The answers of all flows: area → title → lines. */
async function runAll() {
  // The length of the path must not differ between machines: it decides where lines are folded.
  const base = mkdtempSync('/tmp/replay-')
  const settings = { here, root: resolve(options.root), folders: readFolders() }
  const results = []
  const left = [...flows.entries()]
  const work = async () => {
    for (let next; (next = left.shift()) !== undefined;) {
      const [index, flow] = next
      const folder = join(base, String(index).padStart(4, '0'))
      results[index] = await runFlow(flow, { ...settings, base: folder }).catch((error) => [
        { title: `${flow.name ?? flow.steps[0].run}: could not be run`, lines: [error.stack] },
      ])
    }
  }
  try {
    await Promise.all(Array.from({ length: Number(options.jobs) }, work))
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
  return groupByArea(results)
}

function readFolders() {
  return parse(readFileSync(join(recorded, 'folders.yaml'), 'utf8'))
}

function groupByArea(results) {
  const areas = new Map()
  for (const [index, answers] of results.entries()) {
    const { area } = flows[index]
    const titles = areas.get(area) ?? areas.set(area, new Map()).get(area)
    for (const { title, lines } of answers) {
      if (titles.has(title)) throw new Error(`two requests of ${area} have the title '${title}'`)
      titles.set(
        title,
        lines.flatMap((line) => line.split('\n')),
      )
    }
  }
  return areas
}

function record() {
  mkdirSync(join(recorded, 'answers'), { recursive: true })
  for (const [area, answers] of given) {
    const file = join(recorded, 'answers', `${area}.txt`)
    const kept = options.only === '' ? new Map() : readAnswers(file)
    for (const [title, lines] of answers) kept.set(title, lines)
    writeAnswers(file, kept)
    console.log(`${area}: ${answers.size} recorded`)
  }
  finish('recorded')
}

function compare() {
  let passed = 0
  let failed = 0
  for (const [area, answers] of given) {
    const wanted = readAnswers(join(recorded, 'answers', `${area}.txt`))
    for (const [title, lines] of answers) {
      const expected = wanted.get(title)
      if (expected?.join('\n') === lines.join('\n')) passed++
      else {
        failed++
        console.log(`FAILED ${area}: ${title}`)
        console.log(
          expected ? describeDifference(expected, lines) : `  not recorded:\n${lines.join('\n')}`,
        )
      }
    }
    if (options.only !== '') continue
    for (const title of [...wanted.keys()].filter((one) => !answers.has(one))) {
      failed++
      console.log(`FAILED ${area}: ${title}\n  recorded, but not given any more`)
    }
  }
  finish(`${passed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

function finish(words) {
  const count = [...given.values()].reduce((sum, answers) => sum + answers.size, 0)
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(`${words} (${count} requests in ${flows.length} flows, ${seconds} s)`)
}
