import { fileURLToPath } from 'node:url'
import type { CallOptions } from '../../src/core/call.ts'
import { invoke } from '../../src/core/invoke.ts'
import type { ToolEvent } from '../../src/protocol/events.ts'
import type { Outcome } from '../../src/protocol/outcome.ts'
import type { ChildCall, ChildServices } from '../../src/registry/child/child-call.ts'
import { createChildRunner } from '../../src/registry/child/runner.ts'
import { defineForeign } from '../../src/registry/foreign/define-foreign.ts'
import type { ForeignMetadata } from '../../src/registry/source.ts'
import { makeFolder } from './run-program.ts'

/**
 * The environment of a host, of which children get a part. The programs of the system come first: a
 * python3 that is a shell script in disguise is slow, and has variables of its own.
 */
export const hostEnv = { PATH: `/usr/bin:/bin:${process.env['PATH']}`, HOME: makeFolder() }

/** A program of test/fixtures/foreign. */
export function foreign(name: string): string {
  return fileURLToPath(new URL(`../fixtures/foreign/${name}`, import.meta.url))
}

export type Called = { readonly outcome: Outcome; readonly events: readonly ToolEvent[] }

type More = {
  readonly options?: CallOptions
  readonly facts?: ForeignMetadata
  readonly services?: ChildServices
  readonly heard?: (event: ToolEvent) => void
}

/** Calls a program through the one pipeline, as a registry does. */
export async function callChild(
  call: ChildCall,
  input: object = {},
  { options, facts = {}, services = {}, heard }: More = {},
): Promise<Called> {
  const events: ToolEvent[] = []
  const tool = defineForeign('child', facts, createChildRunner(call, services))
  const { outcome } = await invoke(tool, input, {
    env: hostEnv,
    ...options,
    onEvent: (event) => {
      if (event.type === 'tool_invoked') return
      events.push(event)
      heard?.(event)
    },
  })
  return { outcome, events }
}

/** The result of a call that has to work. */
export function resultOf<Result = unknown>({ outcome }: Called): Result {
  if (!outcome.ok) throw new Error(`the call failed: ${JSON.stringify(outcome.error)}`)
  return outcome.result as Result
}

/** The error of a call that has to fail. */
export function errorOf({ outcome }: Called): Extract<Outcome, { ok: false }>['error'] {
  if (outcome.ok) throw new Error(`the call worked: ${JSON.stringify(outcome).slice(0, 500)}`)
  return outcome.error
}
