import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../../support/run-program.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))

const TOOLS = `import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { tool } from 'toolable'

export const repeatText = tool({
  name: 'repeat_text',
  summary: 'Say a text several times',
  annotations: { readOnly: true },
  input: {
    type: 'object', required: ['text', 'mood'], additionalProperties: false,
    properties: {
      text: { type: 'string', description: 'What is said', examples: ['hello'] },
      mood: { enum: ['calm', 'loud'], description: 'How it is said' },
      times: { type: 'integer', minimum: 1, maximum: 5, default: 2, description: 'How often' },
      quoted: { type: 'boolean', default: false },
      words: { type: 'array', items: { type: 'string', maxLength: 8 }, description: 'Words in between' },
      end: { type: 'object', properties: { mark: { type: 'string' }, count: { type: 'integer' } } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      key: { type: 'string', writeOnly: true },
    },
  },
  examples: [{ description: 'Loud', input: { text: 'hello', mood: 'loud', words: ['and', 'then'] } }],
  errors: { E_TOO_LOUD: { category: 'input', message: 'Nobody wants to hear that' } },
  run: ({ text, mood, times = 2, quoted = false, words = [], end = {} }) => ({ said: Array(times).fill(mood === 'loud' ? text.toUpperCase() : text).join(' ' + words.join(' ') + ' ') + (end.mark ?? '').repeat(end.count ?? 1), quoted }),
})

export const waitForFile = tool({
  name: 'wait_for_file',
  summary: 'Wait until a file is there',
  input: { type: 'object', required: ['file'], properties: { file: { type: 'string' } } },
  async run({ file }, ctx) {
    ctx.progress('half way', 50)
    while (!existsSync(file)) await pause(50, undefined, { signal: ctx.signal })
    return { waited: true }
  },
})

export const emptyBin = tool({
  name: 'empty_bin',
  summary: 'Throw everything away',
  annotations: { destructive: true },
  dryRun: true,
  input: { type: 'object', required: ['mark'], properties: { mark: { type: 'string' } } },
  run({ mark }, ctx) {
    if (ctx.dryRun) return { would: 'empty it' }
    writeFileSync(mark, 'emptied')
    return { done: true }
  },
})
`

/** A workflow of those tools. */
export const WORKFLOW = `# Says it, and says it again.
name: twice
summary: Say a text in two ways
input:
  mood: {type: string, enum: [calm, loud, wrong], description: How the first one is said}
steps:
  - name: first
    tool: repeat_text
    input: {text: hello, mood: '\${{ input.mood }}'}
  - name: rest
    type: parallel
    tasks:
      - name: left
        tool: repeat_text
        input: {text: left, mood: calm}
      - name: right
        tool: repeat_text
        when: \${{ input.mood == 'loud' }}
        input: {text: right, mood: loud}
output:
  said: \${{ steps.first.result.said }}
`

/**
 * A project with tools in a module, one of which another stands before, and a manifest that is
 * refused.
 */
export function makeToolProject(
  files: { readonly [path: string]: string } = {},
  folder = makeFolder(),
): {
  readonly folder: string
  /** Makes a shell script of the project a tool. */ addScript(name: string): void
  write(path: string, text: string): void
} {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write(
    'toolable.yaml',
    'modules: [./house.mjs, ./others.mjs]\nfolders: [folder, tools]\nworkflows: [workflows]\n',
  )
  write('house.mjs', TOOLS)
  write(
    'others.mjs',
    "import { tool } from 'toolable'\nexport const repeatText = tool({ name: 'repeat_text', summary: 'Another one', input: { type: 'object', properties: {} }, run: () => ({}) })\n",
  )
  write('folder/half-a-tool.yaml', 'name: half_a_tool\nentry: ./nothing.sh\n')
  for (const path of ['workflows', 'tools']) mkdirSync(join(folder, path), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(REPOSITORY, join(folder, 'node_modules', 'toolable'))
  for (const [path, text] of Object.entries(files)) write(path, text)
  return {
    folder,
    write,
    addScript(name) {
      write(
        `folder/${name}.yaml`,
        `name: ${name}\ndescription: Came later\ncommand: bash-cli\nentry: ./${name}.sh\n`,
      )
      write(`folder/${name}.sh`, '#!/bin/sh\necho "{\\"ok\\": true}"\n')
      chmodSync(join(folder, `folder/${name}.sh`), 0o755)
    },
  }
}
