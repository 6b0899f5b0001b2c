import type { Context } from '../../contract/context.ts'
import type { Annotations } from '../../contract/manifest.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { jsonSchema } from '../../define/schema/source.ts'
import { tool } from '../tool.ts'
import type { Tool } from '../tool.ts'
import type { FileToolRuns } from './tools/runs.ts'

/** The names of the tools that `fileTools` gives. */
export type FileToolName = keyof FileToolRuns

/** Which tools are wanted. */
export type FileToolsOptions = {
  /** Only those that change nothing; default false. */
  readonly readOnly?: boolean
  /** Only these. */
  readonly only?: readonly FileToolName[]
}

const READS: Annotations = { readOnly: true, idempotent: true }
const path = { type: 'string', minLength: 1, description: 'Path relative to the root, with /' }
const offset = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'How many to leave out at the beginning; `next` of the answer before',
}
const limit = (most: number): JsonSchema => ({
  type: 'integer',
  minimum: 1,
  maximum: 10 * most,
  default: most,
})
const yes = (description: string): JsonSchema => ({ type: 'boolean', default: false, description })

const FACTS: {
  readonly [Name in FileToolName]: readonly [
    summary: string,
    annotations: Annotations,
    properties: { readonly [field: string]: JsonSchema },
    required: readonly string[],
  ]
} = {
  read_file: ['Read lines of a text file', READS, { path, offset, limit: limit(500) }, ['path']],
  write_file: [
    'Write a whole text file, and the folders on the way to it',
    { idempotent: true },
    { path, content: { type: 'string' } },
    ['path', 'content'],
  ],
  edit_file: [
    'Replace a piece of text in a file that stands there exactly once',
    {},
    {
      path,
      old: {
        type: 'string',
        minLength: 1,
        description: 'The text as it stands in the file, with enough around it to be found once',
      },
      new: { type: 'string', description: 'What stands there afterwards' },
      all: yes('Replace it wherever it stands'),
    },
    ['path', 'old', 'new'],
  ],
  list_files: [
    'List what lies in a folder',
    READS,
    { path: { ...path, default: '.' }, offset, limit: limit(500) },
    [],
  ],
  find_files: [
    'Find files by a pattern for their paths',
    READS,
    {
      pattern: {
        type: 'string',
        minLength: 1,
        description: 'Such as src/**/*.ts; names with a leading dot only where the dot is written',
      },
      offset,
      limit: limit(500),
    },
    ['pattern'],
  ],
  search_files: [
    'Find lines of text files',
    READS,
    {
      pattern: { type: 'string', minLength: 1, description: 'The text to find' },
      regex: yes('The pattern is a regular expression of JavaScript'),
      ignore_case: yes('Upper and lower case are the same'),
      glob: {
        type: 'string',
        minLength: 1,
        description: 'Only in files whose path fits, such as src/**/*.ts',
      },
      offset,
      limit: limit(100),
    },
    ['pattern'],
  ],
  remove_file: [
    'Remove a file or a folder',
    { destructive: true },
    { path, recursive: yes('A folder with all that is in it') },
    ['path'],
  ],
  move_file: [
    'Move or rename a file or a folder to where nothing is',
    {},
    { path, to: { ...path, description: 'The new path' } },
    ['path', 'to'],
  ],
}

/** Tools over the files of the state that a call is made with: what a model needs to work on a project, with advice in every refusal. */
export function fileTools({ readOnly = false, only }: FileToolsOptions = {}): readonly Tool[] {
  const names = Object.keys(FACTS) as FileToolName[]
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ToolError('CONFIG', `there is no file tool '${String(unknown)}'`, {
      suggestion: `Choose from ${names.join(', ')}`,
    })
  return names
    .filter((name) => (only?.includes(name) ?? true) && (!readOnly || FACTS[name][1].readOnly))
    .map((name) => {
      const [summary, annotations, properties, required] = FACTS[name]
      return tool({
        name,
        summary,
        annotations,
        input: jsonSchema<never>({
          type: 'object',
          properties,
          required: [...required],
          additionalProperties: false,
        }),
        run: async (input, ctx: Context) => {
          const { fileToolRuns, withAdvice } = await import('./tools/runs.ts')
          return withAdvice(
            ctx.filesystem,
            () => fileToolRuns[name](input, ctx.filesystem) as Promise<object>,
          )
        },
      }) as unknown as Tool
    })
}
