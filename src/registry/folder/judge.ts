import { readFileSync } from 'node:fs'
import { readErrorCodes } from '../manifests/error-codes.ts'
import { LONGEST_IN_FILE_BYTES } from '../manifests/in-file-bytes.ts'
import { isCutOff, readInFile } from '../manifests/in-file.ts'
import type { InFile } from '../manifests/in-file.ts'
import { isFileName } from '../manifests/named-server.ts'
import type { NamedServer } from '../manifests/manifest.ts'
import { readManifest } from '../manifests/read-manifest.ts'
import type { ReadProblem, Reading } from '../../contract/documents/reading.ts'
import { readYaml } from '../../contract/documents/yaml.ts'
import { YAML_BOUNDS, tooMuch } from '../../contract/documents/yaml-bounds.ts'
import type { Json } from '../../contract/json.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import type { Candidate } from './candidate.ts'
import { listTool } from './outline.ts'
import type { Outline, WholeTool } from './outline.ts'
import { toolableCall } from '../child/toolable-call.ts'
import { readHead } from './read-head.ts'
import { commandOf, isExecutable, runnerOf } from './runner.ts'

/** What is found out about a candidate: the short form, and the whole as JSON text. */
export type Judgement = { readonly outline: Outline; readonly body: string }

/** A program that has to be asked itself, because nothing is written about it. */
export type Unknown = { readonly command: ChildCall['command'] }

/** Reads what is written about a candidate, in its manifest or in a comment. Nothing is run. */
export async function judge(candidate: Candidate, python: string): Promise<Judgement | Unknown> {
  try {
    return candidate.what === 'program'
      ? judgeProgram(candidate, python)
      : judgeYaml(candidate, await readYamlFile(candidate))
  } catch (error) {
    return broken(candidate, {
      reason: 'unreadable',
      message: `cannot be read: ${(error as Error).message}`,
      fix: 'Check its permissions',
    })
  }
}

/** A candidate that is no tool, told with its file and line. */
export function broken({ key }: Candidate, { reason, message, fix, line }: ReadProblem): Judgement {
  return {
    outline: {
      is: 'problem',
      reason,
      message: `${key}${line === undefined ? '' : `:${line}`} ${message}`,
      fix,
    },
    body: '',
  }
}

async function readYamlFile({ path, seen }: Candidate): Promise<Reading<Json>> {
  // Characters are not bytes, so the reader looks again.
  return seen.stamp.size > YAML_BOUNDS.bytes * 4
    ? { problem: tooMuch(`is larger than ${YAML_BOUNDS.bytes / 1024} KiB`) }
    : readYaml(readFileSync(path, 'utf8'))
}

function judgeYaml(candidate: Candidate, text: Reading<Json>): Judgement {
  if ('problem' in text) return broken(candidate, text.problem)
  if (candidate.what === 'error-codes') {
    const codes = readErrorCodes(text.value)
    return 'problem' in codes
      ? broken(candidate, codes.problem)
      : { outline: { is: 'error-codes' }, body: JSON.stringify(codes.value) }
  }
  const manifest = readManifest(text.value, candidate.what === 'registered')
  if (!manifest) return { outline: { is: 'nothing' }, body: '' }
  if ('problem' in manifest) return broken(candidate, manifest.problem)
  const { style, name, facts } = manifest.value
  return {
    outline: {
      is: 'manifest',
      how: `${style} manifest`,
      tools: [listTool(name, facts)],
      ...('server' in manifest.value
        ? { server: true, ...fileOf(manifest.value.server) }
        : {
            ...(manifest.value.version !== undefined && { version: manifest.value.version }),
            ...(manifest.value.entry !== undefined && { entry: manifest.value.entry }),
            ...(manifest.value.runner !== undefined && { runner: manifest.value.runner }),
          }),
    },
    body: JSON.stringify(manifest.value),
  }
}

// A server of the folder is not asked as if it were a tool.
function fileOf(server: NamedServer): { readonly entry?: string } {
  return 'command' in server && isFileName(server.command) ? { entry: server.command } : {}
}

function judgeProgram(candidate: Candidate, python: string): Judgement | Unknown {
  const { path, seen } = candidate
  const head = readHead(path)
  const command = commandOf(path, runnerOf(path), python, head, isExecutable(seen.mode))
  const inFile = readInFile(isCutOff(head) ? readHead(path, LONGEST_IN_FILE_BYTES) : head)
  if (!inFile) return { command }
  return 'problem' in inFile
    ? broken(candidate, inFile.problem)
    : describedInside(inFile.value, command)
}

function describedInside(
  { version, serves = false, tools }: InFile,
  command: ChildCall['command'],
): Judgement {
  const whole = tools.map(({ name, facts, form, several }): WholeTool => ({
    name,
    facts,
    call: callOf({ name, facts }, form, several, serves, command),
  }))
  return {
    outline: {
      is: 'tools',
      how: 'manifest in the file',
      tier: 'manifest',
      ...(version !== undefined && { version }),
      tools: whole.map(({ name, facts }) => listTool(name, facts)),
    },
    body: JSON.stringify({ tools: whole }),
  }
}

function callOf(
  tool: Pick<WholeTool, 'name' | 'facts'>,
  form: CallForm,
  several: boolean,
  serves: boolean,
  command: ChildCall['command'],
): ChildCall {
  if (form === 'toolable') return toolableCall(command, tool, { serves, readsStdin: serves })
  return { form, command: several ? [...command, tool.name] : command }
}
