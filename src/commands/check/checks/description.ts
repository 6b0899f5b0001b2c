import { failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import { fieldsOf } from '../subject/fields.ts'
import type { DescribedTool } from '../subject/subject.ts'
import { skipSilent } from './discovery.ts'

const LONGEST_SUMMARY = 200
const SHORTEST_SUMMARY = 8

/** Every tool has one line about it. */
export const summaries: Check = {
  id: 'summary',
  title: 'every tool has a summary in one line',
  weight: 6,
  skip: skipSilent,
  run({ tools }) {
    const bad = tools.filter(
      ({ name, summary }) =>
        summary.length < SHORTEST_SUMMARY ||
        summary.length > LONGEST_SUMMARY ||
        summary.includes('\n') ||
        sameWords(summary, name),
    )
    return bad.length === 0
      ? PASS
      : failed(
          `no useful summary: ${nameSome(bad)}`,
          `Say in ${SHORTEST_SUMMARY} to ${LONGEST_SUMMARY} characters what the tool does and when to use it: a model chooses by this line`,
        )
  },
}

/** Every tool shows what it takes. */
export const inputSchemas: Check = {
  id: 'input-schema',
  title: 'every tool has an input schema that is an object',
  weight: 8,
  skip: skipSilent,
  run({ tools }) {
    const bad = tools.filter(
      ({ inputSchema }) =>
        inputSchema?.['type'] !== 'object' || typeof inputSchema['properties'] !== 'object',
    )
    return bad.length === 0
      ? PASS
      : failed(
          `no input schema: ${nameSome(bad)}`,
          'Publish {"type": "object", "properties": {...}} for every tool, by --schema or --fractalic-dump-schema',
        )
  },
}

/** Every field says what it is for. */
export const describedFields: Check = {
  id: 'described-fields',
  title: 'every field has a type and a description',
  weight: 6,
  skip: (subject) =>
    skipSilent(subject) ??
    (subject.tools.every((tool) => fieldsOf(tool).length === 0) ? 'no tool has fields' : undefined),
  run({ tools }) {
    const bad = tools.flatMap((tool) =>
      fieldsOf(tool)
        .filter(
          ([, schema]) =>
            typeof schema['description'] !== 'string' || schema['description'].trim() === '',
        )
        .map(([field]) => `${tool.name}.${field}`),
    )
    return bad.length === 0
      ? PASS
      : failed(
          `without a description: ${bad.slice(0, 5).join(', ')}${bad.length > 5 ? ` and ${bad.length - 5} more` : ''}`,
          'Give each property a "description" (in zod: .describe(...)): a model fills fields by it',
        )
  },
}

function sameWords(left: string, right: string): boolean {
  const letters = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
  return letters(left) === letters(right)
}

function nameSome(tools: readonly DescribedTool[]): string {
  return `${tools
    .slice(0, 5)
    .map(({ name }) => name)
    .join(', ')}${tools.length > 5 ? ` and ${tools.length - 5} more` : ''}`
}
