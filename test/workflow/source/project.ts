import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderWith } from '../../commands/support.ts'

const DIST = new URL('../../../dist/index.js', import.meta.url).href

const TOOLS = `
import { tool } from '${DIST}'
const number = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false }
export const double = tool({ name: 'double', summary: 'Twice as much', input: number, annotations: { readOnly: true, idempotent: true }, run: ({ n }) => ({ n: n * 2 }) })
export const wipe = tool({ name: 'wipe', summary: 'Wipe everything', annotations: { destructive: true }, run: () => 'wiped' })
`

const TIDY = `
name: tidy
summary: Double a number, after asking
description: It asks before it does so.
version: '3'
input:
  n: number
steps:
  - name: first
    tool: double
    input: { n: "\${{ input.n }}" }
  - name: go
    decision_type: proceed
    instruction: Go on with \${{ steps.first.result.n }}?
    options: ['yes', 'no']
  - name: second
    when: steps.go.result == 'yes'
    tool: double
    input: { n: "\${{ steps.first.result.n }}" }
output: { n: "\${{ steps.second.result.n }}", said: "\${{ steps.go.result }}" }
`

/** A project with two tools and a workflow that asks; `files` are added to it. */
export function makeFlows(files: { readonly [path: string]: string } = {}): string {
  return folderWith({
    'toolable.yaml': 'modules: [tools.mjs]\nworkflows: [flows]\n',
    'tools.mjs': TOOLS,
    'flows/tidy.yaml': TIDY,
    ...files,
  })
}

/** The runs of a project. */
export function runsOf(
  folder: string,
): readonly { readonly id: string; readonly request: any; readonly events: readonly any[] }[] {
  const runs = join(folder, '.runs')
  return readdirSync(runs)
    .filter((name) => name.startsWith('r-'))
    .map((id) => ({
      id,
      request: JSON.parse(readFileSync(join(runs, id, 'run.json'), 'utf8')) as unknown,
      events: readFileSync(join(runs, id, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    }))
}
