import type { ToolManifest, ToolsetManifest } from '../../../src/protocol/manifest.ts'

export const findFiles: ToolManifest = {
  name: 'find_files',
  title: 'Find files',
  summary: 'Find files matching a glob',
  description: 'Find files matching a glob pattern in a directory tree.',
  tags: ['files'],
  streaming: true,
  session: false,
  inputSchema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'Glob' },
      root: { type: 'string', format: 'path', default: '.' },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  outputSchema: { type: 'array' },
  annotations: { readOnly: true, idempotent: true, destructive: false },
  examples: [
    {
      args: ['--pattern', '*.py', '--root', '/project'],
      description: 'Find all Python files in a project',
    },
  ],
  errors: {
    E3101: { category: 'state', message: 'No files matched' },
    E3001: { message: 'No such folder' },
  },
  positional: ['pattern'],
  flags: {},
  timeout: 60,
  dryRun: false,
}

export const prList: ToolManifest = {
  name: 'pr_list',
  summary: 'List pull requests',
  tags: [],
  streaming: false,
  session: true,
  inputSchema: { type: 'object', properties: {} },
  annotations: {},
  examples: [],
  errors: {},
  positional: [],
  flags: {},
  dryRun: false,
  permissions: {
    filesystem: { read: ['${WORKSPACE}/**'] },
    network: { egress_allow: ['api.example.com:443'] },
    resources: { cpu_seconds: 60, memory_mb: 256 },
  },
}

export const toolset: ToolsetManifest = {
  name: 'file-tools',
  version: '1.2.0',
  description: 'File utilities',
  permissions: { filesystem: 'read-write', network: 'none' },
  tools: [
    { ...findFiles, path: ['find-files'] },
    { ...prList, path: ['pr', 'list'] },
  ],
  resources: [
    { uri: 'notes://{id}', summary: 'One note', mimeTypes: ['text/markdown'], tags: ['notes'] },
    { uri: 'notes://all', summary: 'All notes', mimeTypes: [], tags: [] },
  ],
  prompts: [
    {
      name: 'review',
      summary: 'Review a file',
      arguments: [
        { name: 'file', description: 'The file', required: true },
        { name: 'style', required: false },
        { name: '__proto__', description: 'odd', required: false },
      ],
      tags: [],
    },
  ],
}
