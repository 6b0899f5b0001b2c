import type { Io } from '../../contract/io.ts'
import type { Host } from '../../surfaces/cli/host.ts'

/** An Io that keeps what is printed, as a program sees it whose output goes down a pipe. */
export function capturedIo(
  env: Io['env'],
  cwd = '/',
): { readonly io: Io; readonly said: { stdout: string; stderr: string } } {
  const said = { stdout: '', stderr: '' }
  const sink = (stream: keyof typeof said) => ({
    write: (text: string) => void (said[stream] += text),
    send: async (text: string) => void (said[stream] += text),
    flush: async () => undefined,
    unblock: () => undefined,
    closed: false,
    isTTY: false,
    isPipe: true,
    columns: 80,
    identity: () => '',
  })
  const stdin: Io['stdin'] = {
    isTTY: false,
    taken: false,
    isPipe: false,
    bytes: async function* () {},
    each: async () => undefined,
    close: () => undefined,
  } as Io['stdin']
  return {
    io: {
      stdin,
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      screen: undefined,
      env,
      cwd,
      now: Date.now,
    },
    said,
  }
}

/** A host that puts up no guards. */
export function quietHost(makeToolset: Host['makeToolset']): Host {
  return {
    signal: new AbortController().signal,
    started: { execPath: 'node', execArgv: [], script: undefined },
    prepareForTools: () => undefined,
    makeToolset,
  }
}
