import type { Language } from '../language.ts'
import type { NewFile } from '../write-new-files.ts'
import { readEmitter } from './emitter.ts'

/** A first tool, with its manifest, and in languages that have no package of ours with the helper that it needs. */
export function firstTool(language: Language, name: string): readonly NewFile[] {
  const folder = `tools/${name}`
  return [
    { path: `tools/registry/${name}/tool.yaml`, text: manifestOf(name, ENTRIES[language]) },
    { path: `${folder}/${ENTRIES[language]}`, text: PROGRAMS[language](name), program: true },
    ...(language === 'ts'
      ? []
      : [
          {
            path: `${folder}/toolable.${language === 'python' ? 'py' : 'sh'}`,
            text: readEmitter(language),
          },
        ]),
  ]
}

const ENTRIES = { ts: 'cli.mjs', python: 'cli.py', sh: 'cli.sh' } as const
const SUMMARY = 'Greet somebody, and count the letters of the name'
const WHO = 'Who is greeted'

function manifestOf(name: string, entry: string): string {
  return `name: ${name}
version: 0.1.0
summary: ${SUMMARY}
entry: ${entry}
protocol_version: 1
inputs:
  - {name: who, type: string, required: true, description: ${WHO}}
# What does not stand here is denied: other files, the network, more time and memory. Inputs of type path can be read, or written, without being named here.
permissions:
  filesystem:
    read: ["\${WORKSPACE}/**"]
    write: ["\${WORKSPACE}/**"]
resources: {cpu_seconds: 60, memory_mb: 1024}
health: {selftest: ["--selftest"]}
`
}

const PROGRAMS: { readonly [language in Language]: (name: string) => string } = {
  // Types are inferred from the schema: the file is TypeScript without a single annotation, and Node runs it without a build.
  ts: (name) => `#!/usr/bin/env node
// @ts-check
// ./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too.
import { tool, toolset } from 'toolable'

await toolset({
  name: '${name}',
  version: '0.1.0',
  tools: [
    tool({
      name: '${name}',
      summary: '${SUMMARY}',
      input: { type: 'object', properties: { who: { type: 'string', description: '${WHO}' } }, required: ['who'], additionalProperties: false },
      annotations: { readOnly: true, idempotent: true },
      examples: [{ input: { who: 'World' } }],
      run({ who }, ctx) {
        ctx.progress('counting letters', 50)
        return { greeting: \`Hello \${who}\`, letters: [...who].length }
      },
    }),
  ],
}).run(import.meta)
`,
  python: (name) => `#!/usr/bin/env python3
"""./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too."""
from typing import Annotated

from toolable import progress, run, tool


@tool(name="${name}", summary="${SUMMARY}", read_only=True, idempotent=True, examples=[{"input": {"who": "World"}}])
def greet(who: Annotated[str, "${WHO}"]):
    progress("counting letters", 50)
    return {"greeting": "Hello %s" % who, "letters": len(who)}


run()
`,
  sh: (name) => `#!/bin/sh
# ./tool ${name} --who World runs it under the runner; by itself it has --help and --discover too.
. "$(dirname "$0")/toolable.sh"

tool ${name} '${SUMMARY}' readOnly idempotent
param who string required '${WHO}'
run_${name}() {
  progress 'counting letters' 50
  result "{\\"greeting\\": $(json_string "Hello $who"), \\"letters\\": \${#who}}"
}

toolable_main "$@"
`,
}
