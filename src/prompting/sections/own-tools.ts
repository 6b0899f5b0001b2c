import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'
import { ok } from '../../define/results.ts'
import { defineTool } from '../../define/tool.ts'
import type { ToolDefinition, ToolOptions } from '../../define/tool-type.ts'
import { flatten } from './decide.ts'
import type { ShownSection } from './decide.ts'
import { refuse } from './opened.ts'
import { writeSection } from './write-markdown.ts'

const READ_ONLY = { readOnly: true, idempotent: true, openWorld: false } as const

/** The tool that gives the text behind a summary, and leaves the section as it is. */
export function readSection(sections: readonly ShownSection[]): ToolDefinition {
  return define({
    name: 'read_section',
    summary: 'Read a section of which only the summary is shown, without opening it.',
    input: {
      type: 'object',
      properties: {
        section_key: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          description: 'The key that stands below the summary',
        },
      },
      required: ['section_key'],
      additionalProperties: false,
    },
    run: async ({ section_key: key }) =>
      writeSection((await findShown(sections, [key as string]))[0]!, true),
  })
}

/** The tool that asks for sections to be opened. It cannot do it itself: the prompt has to be rendered again, so it fails with E_VISIBILITY_EXPANSION, which evaluation throws. */
export function openSections(sections: readonly ShownSection[]): ToolDefinition {
  return define({
    name: 'open_sections',
    summary: 'Open sections of which only the summary is shown: their whole text, and their tools.',
    input: {
      type: 'object',
      properties: {
        section_keys: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 64 },
          minItems: 1,
          maxItems: 100,
          description: 'The keys that stand below the summaries',
        },
        reason: { type: 'string', maxLength: 1000, description: 'What they are needed for' },
      },
      required: ['section_keys'],
      additionalProperties: false,
    },
    errors: {
      E_VISIBILITY_EXPANSION: {
        message: 'Sections have to be opened',
        category: 'state',
        recoverable: true,
      },
    },
    run: async ({ section_keys: keys, reason }) => {
      const wanted = await findShown(sections, keys as string[])
      const open = new Set(
        (await flatten(sections, false)).filter(({ summary }) => summary === undefined),
      )
      const closed = [
        ...new Set(
          wanted.filter((section) => !open.has(section)).map(({ placed }) => placed.section.key),
        ),
      ]
      if (closed.length === 0)
        return ok(
          { opened: [] },
          {
            message: `Already open: ${wanted.map(({ placed }) => placed.section.key).join(', ')}.`,
          },
        )
      throw new ToolError(
        'E_VISIBILITY_EXPANSION',
        `the prompt has to be rendered again with ${closed.length === 1 ? 'the section' : 'the sections'} ${closed.join(', ')} open`,
        {
          category: 'state',
          recoverable: true,
          details: { keys: closed, ...(reason !== undefined && { reason }) },
          suggestion: {
            action: 'abort',
            fix: `The host calls prompt.open(${JSON.stringify(closed)}, state), renders the prompt again and goes on with its text and tools`,
          },
        },
      )
    },
  })
}

async function findShown(
  sections: readonly ShownSection[],
  keys: readonly string[],
): Promise<readonly ShownSection[]> {
  const all = await flatten(sections, true)
  return keys.map(
    (key) =>
      all.find(({ placed }) => lookupKey(placed.section.key) === lookupKey(key)) ??
      refuse(
        key,
        all.map(({ placed }) => placed.section.key),
      ),
  )
}

function define(
  options: Omit<ToolOptions, 'run'> & {
    readonly run: (input: { readonly [field: string]: unknown }) => unknown
  },
): ToolDefinition {
  return defineTool({ ...options, annotations: READ_ONLY })
}
