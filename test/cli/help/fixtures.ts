import type { ToolManifest, ToolsetManifest } from '../../../src/protocol/manifest.ts'
import type { CommandManifest } from '../../../src/cli/command-line.ts'

/** A tool manifest with everything left at its default but what is given. */
export function command(
  given: Partial<CommandManifest> & { readonly name: string },
): CommandManifest {
  return {
    path: [given.name],
    summary: `Does ${given.name}`,
    tags: [],
    streaming: false,
    session: false,
    inputSchema: { type: 'object', properties: {} },
    annotations: {},
    examples: [],
    errors: {},
    positional: [],
    flags: {},
    dryRun: false,
    ...given,
  }
}

/** A manifest with the given input fields. */
export function withFields(
  properties: Record<string, unknown>,
  more: Partial<ToolManifest> & { readonly required?: readonly string[] } = {},
): CommandManifest {
  const { required, ...rest } = more
  return command({
    name: 'tool',
    inputSchema: { type: 'object', properties, ...(required && { required }) },
    ...rest,
  })
}

export const findFiles = command({
  name: 'find_files',
  summary: 'Find files matching a glob',
  description:
    'Walks a directory tree and gives back every file whose path matches.\n\nHidden files are skipped.',
  inputSchema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'Glob' },
      root: { type: 'string', format: 'path', default: '.', description: 'Where to begin' },
      maxDepth: {
        anyOf: [{ type: 'integer' }, { type: 'null' }],
        description: 'How deep to go down the tree; without it there is no limit at all',
      },
      kind: { enum: ['file', 'directory', 'symlink', 'socket'], description: 'Kind of entry' },
      hidden: { type: 'boolean', default: false, description: 'Hidden ones too' },
      exclude: { type: 'array', items: { type: 'string' } },
      sort: { type: 'string', enum: ['name', 'size'] },
      owner: {
        type: 'object',
        properties: { name: { type: 'string' }, role: { enum: ['user', 'root'] } },
      },
    },
    required: ['pattern', 'sort'],
  },
  positional: ['pattern'],
  flags: { root: { short: 'r', env: 'FIND_ROOT' } },
  examples: [
    { description: 'All sources', input: { pattern: '*.ts', sort: 'name' } },
    { description: 'Below a folder', args: ['*.md', '--sort', 'size', '--root', 'my docs'] },
  ],
  errors: {
    E3101: { category: 'state', message: 'No files matched' },
    E4101: { category: 'runtime', message: 'Disk busy', retryable: true },
  },
})

export const mergePullRequest = command({
  name: 'pr_merge',
  path: ['pr', 'merge'],
  summary: 'Merge a pull request',
  annotations: { destructive: true },
  inputSchema: {
    type: 'object',
    properties: { number: { type: 'integer' }, method: { enum: ['squash', 'rebase'] } },
    required: ['number'],
  },
  positional: ['number', 'method'],
})

export const fileTools: ToolsetManifest = {
  name: 'file-tools',
  version: '1.2.0',
  description: 'Find and change files',
  tools: [
    findFiles,
    command({ name: 'pr_list', path: ['pr', 'list'], summary: 'List pull requests' }),
    mergePullRequest,
  ],
  resources: [
    { uri: 'notes://{id}', summary: 'One note', mimeTypes: [], tags: [] },
    { uri: 'notes://all', summary: 'All notes', mimeTypes: [], tags: [] },
  ],
  prompts: [
    {
      name: 'review',
      summary: 'Review code',
      arguments: [
        { name: 'code', required: true },
        { name: 'style', required: false },
      ],
      tags: [],
    },
  ],
}

export const oneTool: ToolsetManifest = {
  name: 'find-files',
  version: '2.0.0',
  tools: [findFiles],
  resources: [],
  prompts: [],
}
