import type { Answerer, Interaction } from '../../contract/interaction.ts'
import type { TextSink } from '../../contract/io.ts'
import type { LineReader } from './lines.ts'
import { cleanText } from './output/text/clean.ts'
import { displayWidth } from './output/text/display-width.ts'

/** A person at a terminal who answers questions. Questions go to stderr, so that stdout stays clean. */
export function terminalAnswerer(lines: Pick<LineReader, 'next'>, stderr: Pick<TextSink, 'write'>): Answerer {
  return async (question, signal) => {
    if (question.problem) stderr.write(`  ${cleanText(question.problem)}\n`)
    for (;;) {
      stderr.write(wording(question))
      const line = await lines.next(signal)
      if (line === undefined) {
        stderr.write('\n')
        return undefined
      }
      if (line.trim() === '' && question.default !== undefined) return question.default
      const answer = READERS[question.kind](line.trim(), question)
      if (answer.ok) return answer.value
      stderr.write(`  ${answer.problem}\n`)
    }
  }
}

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

const READERS: { readonly [Kind in Interaction['kind']]: (text: string, question: Interaction) => Reading } = {
  confirm(text) {
    if (/^(y|yes|true)$/i.test(text)) return { ok: true, value: true }
    if (/^(n|no|false)$/i.test(text)) return { ok: true, value: false }
    return { ok: false, problem: 'Please answer y or n.' }
  },
  decision(text, { options = [] }) {
    const byNumber = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
    const chosen = options.find(({ value }) => value === text) ?? byNumber
    return chosen ? { ok: true, value: chosen.value } : { ok: false, problem: `Please choose a number from 1 to ${options.length}.` }
  },
  input(text, { schema, dialogue }) {
    if (dialogue) return { ok: true, value: readDialogue(text) }
    return { ok: true, value: schema && schema['type'] !== 'string' ? readJson(text) : text }
  },
  sample: (text) => ({ ok: true, value: text }),
}

function wording({ kind, prompt, options = [], dialogue, default: byDefault }: Interaction): string {
  const clean = cleanText(prompt)
  if (dialogue) return clean
  const shown = byDefault === undefined ? '' : `(${cleanText(typeof byDefault === 'string' ? byDefault : (JSON.stringify(byDefault) ?? ''))}) `
  if (kind === 'confirm') return `${clean} ${byDefault === undefined ? '[y/n]' : byDefault === true ? '[Y/n]' : '[y/N]'} `
  if (kind === 'decision') return `${clean}\n${choices(options)}${shown}> `
  return `${clean} ${shown}`
}

// What is said about each of them stands in a column.
function choices(options: NonNullable<Interaction['options']>): string {
  const rows = options.map(({ value, label, description }, index) => [`  ${index + 1}) ${cleanText(label ?? value)}`, description ? cleanText(description) : ''] as const)
  const widest = Math.max(0, ...rows.map(([name, description]) => (description === '' ? 0 : displayWidth(name))))
  return rows.map(([name, description]) => `${name}${description === '' ? '' : `${' '.repeat(Math.max(0, widest - displayWidth(name)))}  ${description}`}\n`).join('')
}

// In a session a person writes plain words; programs write JSON objects.
function readDialogue(text: string): unknown {
  if (/^(quit|exit)$/i.test(text)) return { action: 'quit' }
  const value = readJson(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { text }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
