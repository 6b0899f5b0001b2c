import { closest } from '../../contract/did-you-mean.ts'
import type { KeyPath } from '../../contract/documents/document.ts'
import { findMisfit } from '../../contract/documents/shape.ts'
import type { Shape } from '../../contract/documents/shape.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { parseCondition } from '../expressions/parse-condition.ts'
import { OPEN, parseTemplate } from '../expressions/parse-template.ts'
import { splitCommand } from '../expressions/split-command.ts'
import { referencesOf } from '../expressions/syntax.ts'
import type { Expression, Template } from '../expressions/syntax.ts'
import type { Use } from './draft.ts'
import type { Finding, Source } from './finding.ts'
import { DURATION_WORDS, readDuration } from './read-duration.ts'

const DEEPEST_VALUE = 60
const MOST_PARTS = 50_000

/** Reads the parts of one definition and collects what is wrong with them, so that all of it can be told at once. */
export class DefinitionReader {
  readonly source: Source
  readonly findings: Finding[]

  constructor(source: Source, findings: Finding[]) {
    this.source = source
    this.findings = findings
  }

  /** Notes that something is wrong. */
  find(path: KeyPath, message: string, fix?: string): undefined {
    this.findings.push({ source: this.source, path, message, ...(fix !== undefined && { fix }) })
    return undefined
  }

  /** Whether a value has the shape of its key; notes where it has not. */
  fits(shape: Shape, value: unknown, path: KeyPath): boolean {
    const misfit = findMisfit(shape, value, path.slice(-1))
    if (misfit === undefined) return true
    this.find([...path.slice(0, -1), ...misfit.path], misfit.message, misfit.fix)
    return false
  }

  /** Notes each key that nobody knows, and which one was meant. */
  knownKeys(data: object, keys: readonly string[], path: KeyPath, where: string): void {
    for (const key of Object.keys(data).filter((one) => !keys.includes(one))) {
      const free = keys.filter((known) => !Object.hasOwn(data, known))
      const meant = closest(key, free)
      this.find(
        [...path, key],
        `unknown key '${shorten(key, 60)}' in ${where}${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
        meant === undefined ? `The keys are ${keys.join(', ')}` : `Write ${meant}`,
      )
    }
  }

  /** The seconds of a duration; notes what is none. */
  duration(value: unknown, path: KeyPath, least: 'some' | 'none' = 'some'): number | undefined {
    const seconds = readDuration(value)
    if (seconds !== undefined && (seconds > 0 || least === 'none')) return seconds
    return this.find(
      path,
      `'${String(path.at(-1))}' must be a duration${least === 'some' ? ' above 0' : ''}: ${DURATION_WORDS}; got ${shown(value)}`,
    )
  }

  /** What a condition asks for. */
  condition(text: string, path: KeyPath): readonly Use[] {
    return this.readable(path, () => usesOf([parseCondition(text)], path))
  }

  /** What a command asks for; its tool has to be written out. */
  command(text: string, path: KeyPath): readonly Use[] {
    return this.readable(path, () => {
      const words = splitCommand(text)
      if (words[0]!.some((part) => typeof part !== 'string'))
        this.find(
          path,
          'the tool of a command cannot be an expression: nobody could check it before the start',
          'Write its name first: scan --root ${{ input.root }}',
        )
      return usesOf(words.flat(), path)
    })
  }

  /** A JSON value whose texts may hold expressions: its copy, and what they ask for. Notes what JSON cannot hold. */
  value(value: unknown, path: KeyPath): { readonly value: unknown; readonly uses: readonly Use[] } {
    const uses: Use[] = []
    const around = new Set<object>()
    let parts = 0
    const copy = (here: unknown, at: KeyPath): unknown => {
      if (typeof here === 'string') {
        if (here.includes(OPEN))
          uses.push(...this.readable(at, () => usesOf(parseTemplate(here), at)))
        return here
      }
      if (
        here === null ||
        typeof here === 'boolean' ||
        (typeof here === 'number' && Number.isFinite(here))
      )
        return here
      if (typeof here !== 'object')
        return this.find(
          at,
          `${shown(here)} is nothing that JSON can hold`,
          'Give texts, numbers, true, false, null, lists and objects of them',
        )
      if (around.has(here)) return this.find(at, 'the value contains itself')
      if (around.size > DEEPEST_VALUE)
        return this.find(at, `the value has more than ${DEEPEST_VALUE} levels`)
      if (!Array.isArray(here) && !isPlain(here))
        return this.find(
          at,
          'an object of a class is nothing that JSON can hold',
          'Give plain objects',
        )
      // What is shared by many parts is written out for each of them.
      if (++parts > MOST_PARTS)
        return parts === MOST_PARTS + 1
          ? this.find(at, `the value has more than ${MOST_PARTS} parts`)
          : undefined
      around.add(here)
      const made: unknown = Array.isArray(here)
        ? here.map((item, index) => copy(item ?? null, [...at, index]))
        : Object.fromEntries(
            Object.entries(here)
              .filter(([, item]) => item !== undefined)
              .map(([key, item]) => [key, copy(item, [...at, key])]),
          )
      around.delete(here)
      return made
    }
    return { value: copy(value, path), uses }
  }

  private readable(path: KeyPath, read: () => readonly Use[]): readonly Use[] {
    try {
      return read()
    } catch (error) {
      if (!ToolError.is(error)) throw error
      this.find(path, error.message, error.suggestion?.fix)
      return []
    }
  }
}

/** A value as a message shows it. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'function' || typeof value === 'symbol'
    ? `a ${typeof value}`
    : shorten(typeof value === 'string' ? JSON.stringify(value) : String(value), 60)
}

function usesOf(parts: Template, path: KeyPath): readonly Use[] {
  const references = parts
    .filter((part): part is Expression => typeof part === 'object')
    .flatMap(referencesOf)
  return references.length === 0 ? [] : [{ path, references }]
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
