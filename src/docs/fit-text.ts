/**
 * Fits documents into a size: the description that says when to use a program, and the first
 * version of a document that is small enough.
 */

import { escapeWordPlaceholders, tidyLine, truncateText } from './markdown.ts'
import type { DocModel } from './model.ts'
import { endSentence } from './sections.ts'

// Skill readers refuse a description with angle brackets, because it is put into a prompt among
// tags.
const BRACKET_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[-=]>/g, '→'],
  [/<=/g, '≤'],
  [/>=/g, '≥'],
  [/</g, '‹'],
  [/>/g, '›'],
]

/**
 * What a program does and when to use it, on one line of at most so many characters, cut between
 * words.
 */
export function describeWhenToUse(model: DocModel, longest: number): string {
  const what = endSentence(
    truncateText(toPlainText(describePurpose(model)), Math.floor(longest / 2) - 1),
  )
  const room = longest - what.length - 1
  return `${what} ${describeTriggers(model, room)}`.trim()
}

function describePurpose({ description, single, tools: [only], name }: DocModel): string {
  if (description !== undefined) return description
  if (!single || !only) return `Commands of ${name}`
  return only.description === undefined
    ? only.summary
    : `${endSentence(only.summary)} ${only.description}`
}

function describeTriggers({ name, tools, tags }: DocModel, room: number): string {
  const start = 'Use when asked to '
  const tasks = tools
    .map(({ summary }) => toTask(toPlainText(summary)))
    .filter((task) => task !== '')
  if (tasks.length === 0) return truncateText(`Use when asked to call ${name}.`, room)
  const fitting = takeWhileFits(tasks, room - start.length - '; and more.'.length, '; ')
  if (fitting.length === 0)
    return `${start}${truncateText(tasks[0]!, room - start.length - 1)}.`.replace('….', '…')
  const sentence =
    fitting.length < tasks.length
      ? `${start}${fitting.join('; ')}; and more.`
      : `${start}${joinTasks(fitting)}.`
  const topics = takeWhileFits(
    tags.map(toPlainText),
    room - sentence.length - ' Topics: .'.length,
    ', ',
  )
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
function toTask(summary: string): string {
  const text = summary.replace(/[.!?…\s]+$/, '')
  return /^\p{Lu}(?!\p{Lu})/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

function toPlainText(text: string): string {
  return BRACKET_REPLACEMENTS.reduce(
    (changed, [bracket, written]) => changed.replace(bracket, written),
    escapeWordPlaceholders(tidyLine(text)),
  )
}

/**
 * The first of several versions of a document, from rich to poor, that takes at most so many bytes.
 * The last one is taken whatever it takes: it has to be short by itself.
 */
export function pickFirstThatFits<Version extends { readonly text: string }>(
  versions: readonly (() => Version)[],
  most: number,
): Version {
  for (const make of versions.slice(0, -1)) {
    const version = make()
    if (Buffer.byteLength(version.text) <= most) return version
  }
  return versions.at(-1)!()
}
