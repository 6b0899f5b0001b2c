import type { DocModel } from '../model/model.ts'
import { cutText, tidyLine } from '../model/tidy-text.ts'
import { calmWords } from '../model/touchy.ts'
import { endSentence } from '../sections/errors.ts'

// Skill readers refuse a description with angle brackets, because it is put into a prompt among tags.
const BRACKETS: readonly (readonly [RegExp, string])[] = [
  [/[-=]>/g, '→'],
  [/<=/g, '≤'],
  [/>=/g, '≥'],
  [/</g, '‹'],
  [/>/g, '›'],
]

/** What a program does and when to use it, on one line of at most so many characters, cut between words. */
export function whenToUse(model: DocModel, longest: number): string {
  const what = endSentence(cutText(plain(whatItDoes(model)), Math.floor(longest / 2) - 1))
  const room = longest - what.length - 1
  return `${what} ${when(model, room)}`.trim()
}

function whatItDoes({ description, single, tools: [only], name }: DocModel): string {
  if (description !== undefined) return description
  if (!single || !only) return `Commands of ${name}`
  return only.description === undefined
    ? only.summary
    : `${endSentence(only.summary)} ${only.description}`
}

function when({ name, tools, tags }: DocModel, room: number): string {
  const start = 'Use when asked to '
  const tasks = tools.map(({ summary }) => asTask(plain(summary))).filter((task) => task !== '')
  if (tasks.length === 0) return cutText(`Use when asked to call ${name}.`, room)
  const fitting = takeWhileFits(tasks, room - start.length - '; and more.'.length, '; ')
  if (fitting.length === 0)
    return `${start}${cutText(tasks[0]!, room - start.length - 1)}.`.replace('….', '…')
  const sentence =
    fitting.length < tasks.length
      ? `${start}${fitting.join('; ')}; and more.`
      : `${start}${joinTasks(fitting)}.`
  const topics = takeWhileFits(tags.map(plain), room - sentence.length - ' Topics: .'.length, ', ')
  return topics.length === 0 ? sentence : `${sentence} Topics: ${topics.join(', ')}.`
}

function takeWhileFits(parts: readonly string[], room: number, between: string): string[] {
  const taken: string[] = []
  let used = 0
  for (const part of parts) {
    used += part.length + (taken.length === 0 ? 0 : between.length)
    if (used > room) break
    taken.push(part)
  }
  return taken
}

function joinTasks(tasks: readonly string[]): string {
  return tasks.length < 2 ? tasks.join('') : `${tasks.slice(0, -1).join('; ')}; or ${tasks.at(-1)}`
}

// `Find files` becomes `find files`; `HTTP request` stays.
function asTask(summary: string): string {
  const text = summary.replace(/[.!?…\s]+$/, '')
  return /^\p{Lu}(?!\p{Lu})/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

function plain(text: string): string {
  return BRACKETS.reduce(
    (changed, [bracket, written]) => changed.replace(bracket, written),
    calmWords(tidyLine(text)),
  )
}
