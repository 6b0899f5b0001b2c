import { jsonSchema } from '../../define/schema/source.ts'
import type { Context } from '../../protocol/context.ts'
import type { Annotations } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { tool } from '../tool.ts'
import type { Tool } from '../tool.ts'
import type { FileToolHandlers } from './file-tool-handlers.ts'

/** The names of the tools that `fileTools` gives. */
export type FileToolName = keyof FileToolHandlers

/** Which tools are wanted. */
export type FileToolsOptions = {
  /** Only those that change nothing; default false. */
  readonly readOnly?: boolean
  /** Only these. */
  readonly only?: readonly FileToolName[]
}

const READ_ANNOTATIONS: Annotations = { readOnly: true, idempotent: true }
const pathField = { type: 'string', minLength: 1, description: 'Path relative to the root, with /' }
const offsetField = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'How many to leave out at the beginning; `next` of the answer before',
}
const limitField = (most: number): JsonSchema => ({
  type: 'integer',
  minimum: 1,
  maximum: 10 * most,
  default: most,
})
const booleanField = (description: string): JsonSchema => ({
  type: 'boolean',
  default: false,
  description,
})

const FILE_TOOLS: {
  readonly [Name in FileToolName]: readonly [
    summary: string,
    annotations: Annotations,
    properties: { readonly [field: string]: JsonSchema },
    required: readonly string[],
  ]
} = {
  read_file: [
    'Read lines of a text file',
    READ_ANNOTATIONS,
    { path: pathField, offset: offsetField, limit: limitField(500) },
    ['path'],
  ],
  write_file: [
    'Write a whole text file, and the folders on the way to it',
    { idempotent: true },
    { path: pathField, content: { type: 'string' } },
    ['path', 'content'],
  ],
  edit_file: [
    'Replace a piece of text in a file that stands there exactly once',
    {},
    {
      path: pathField,
      old: {
        type: 'string',
        minLength: 1,
        description: 'The text as it stands in the file, with enough around it to be found once',
      },
      new: { type: 'string', description: 'What stands there afterwards' },
      all: booleanField('Replace it wherever it stands'),
    },
    ['path', 'old', 'new'],
  ],
  list_files: [
    'List what lies in a folder',
    READ_ANNOTATIONS,
    { path: { ...pathField, default: '.' }, offset: offsetField, limit: limitField(500) },
    [],
  ],
  find_files: [
    'Find files by a pattern for their paths',
    READ_ANNOTATIONS,
    {
      pattern: {
        type: 'string',
        minLength: 1,
        description: 'Such as src/**/*.ts; names with a leading dot only where the dot is written',
      },
      offset: offsetField,
      limit: limitField(500),
    },
    ['pattern'],
  ],
  search_files: [
    'Find lines of text files',
    READ_ANNOTATIONS,
    {
      pattern: { type: 'string', minLength: 1, description: 'The text to find' },
      regex: booleanField('The pattern is a regular expression of JavaScript'),
      ignore_case: booleanField('Upper and lower case are the same'),
      glob: {
        type: 'string',
        minLength: 1,
        description: 'Only in files whose path fits, such as src/**/*.ts',
      },
      offset: offsetField,
      limit: limitField(100),
    },
    ['pattern'],
  ],
  remove_file: [
    'Remove a file or a folder',
    { destructive: true },
    { path: pathField, recursive: booleanField('A folder with all that is in it') },
    ['path'],
  ],
  move_file: [
    'Move or rename a file or a folder to where nothing is',
    {},
    { path: pathField, to: { ...pathField, description: 'The new path' } },
    ['path', 'to'],
  ],
}

/**
 * Tools over the files of the state that a call is made with: what a model needs to work on a
 * project, with advice in every refusal.
 */
export function fileTools({ readOnly = false, only }: FileToolsOptions = {}): readonly Tool[] {
  const names = Object.keys(FILE_TOOLS) as FileToolName[]
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ToolError('CONFIG', `there is no file tool '${String(unknown)}'`, {
      suggestion: `Choose from ${names.join(', ')}`,
    })
  return names
    .filter((name) => (only?.includes(name) ?? true) && (!readOnly || FILE_TOOLS[name][1].readOnly))
    .map((name) => {
      const [summary, annotations, properties, required] = FILE_TOOLS[name]
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
          const { fileToolHandlers, withPathSuggestion } = await import('./file-tool-handlers.ts')
          return withPathSuggestion(
            ctx.filesystem,
            () => fileToolHandlers[name](input, ctx.filesystem) as Promise<object>,
          )
        },
      }) as unknown as Tool
    })
}
