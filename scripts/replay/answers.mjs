// The files with the recorded answers: one for each area, a block for each request, and each line
// of an answer behind the name of the stream that it came from.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const HEAD = '=== '
const CONTEXT = 90
const MAX_LINES = 30

/** Reads a file of answers: a map of the request's title to the lines of its answer. */
export function readAnswers(file) {
  const answers = new Map()
  if (!existsSync(file)) return answers
  const blocks = readFileSync(file, 'utf8')
    .split(new RegExp(`^${HEAD}`, 'm'))
    .slice(1)
  for (const block of blocks) {
    const [title, ...lines] = block.replace(/\n+$/, '').split('\n')
    answers.set(title, lines)
  }
  return answers
}

export function writeAnswers(file, answers) {
  const blocks = [...answers].map(([title, lines]) => `${[HEAD + title, ...lines].join('\n')}\n`)
  writeFileSync(file, blocks.join('\n'))
}

/** The lines of a stream; a last line without a line feed is marked. */
export function streamLines(name, text) {
  if (text === '') return []
  const lines = escapeControls(text).split('\n')
  const last = lines.pop()
  return [...lines.map((line) => `${name}|${line}`), ...(last === '' ? [] : [`${name}\\${last}`])]
}

// So that the files stay text for git and for people.
function escapeControls(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f]/g, (one) => {
    return one === '\r' ? '\\r' : `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

/** A readable difference of two answers. */
export function describeDifference(recorded, given) {
  let start = 0
  while (start < Math.min(recorded.length, given.length) && recorded[start] === given[start])
    start++
  let end = 0
  const most = Math.min(recorded.length, given.length) - start
  while (end < most && recorded.at(-1 - end) === given.at(-1 - end)) end++
  const removed = recorded.slice(start, recorded.length - end)
  const added = given.slice(start, given.length - end)
  // Lines that changed one by one are cut around the place where each differs.
  const isPairwise = removed.length === added.length
  const at = (index) => (isPairwise ? differAt(removed[index], added[index]) : 0)
  const around = recorded.slice(Math.max(0, start - 2), start)
  return [
    ...around.map((line) => `    ${cut(line, 0)}`),
    ...removed.slice(0, MAX_LINES).map((line, index) => `  - ${cut(line, at(index))}`),
    ...added.slice(0, MAX_LINES).map((line, index) => `  + ${cut(line, at(index))}`),
  ].join('\n')
}

function differAt(one, other) {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

// Lines of JSON are long: the part around the first difference is what matters.
function cut(line, at) {
  const start = Math.max(0, at - CONTEXT)
  const end = Math.max(at, 60) + 2 * CONTEXT
  return `${start > 0 ? '… ' : ''}${line.slice(start, end)}${line.length > end ? ' …' : ''}`
}
