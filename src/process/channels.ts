import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { takePipes } from './pipes.ts'
import type { NamedPipe } from './pipes.ts'

/** What a child reads: a pipe of ours, a descriptor, or nothing. */
export type ChildInput = 'pipe' | 'ignore' | number

/** The streams of a child, from our side. */
export type Channels = {
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** What /proc calls the ends of the child; empty where nobody knows. */
  readonly names: readonly string[]
  /** When the child is over and everything is read. */
  release(): void
}

/** Streams for a child that is about to start. */
export type OpenedChannels = {
  readonly stdio: StdioOptions
  connect(child: ChildProcess): Channels
  /** Where the child did not start. */
  giveUp(): void
}

/** Opens what a child writes to: real pipes where there are any, otherwise the sockets of Node. */
export async function openChannels(stdin: ChildInput): Promise<OpenedChannels> {
  const pipes = await takePipes(2)
  const ends = pipes && openEnds(pipes)
  if (!pipes || !ends)
    return { stdio: [stdin, 'pipe', 'pipe'], connect: connectSockets, giveUp: () => {} }
  const { Socket } = await import('node:net')
  const listen = (reader: number): Readable =>
    new Socket({ fd: reader, readable: true, writable: false })
  const closeWriters = (): void => ends.forEach(({ writer }) => closeSync(writer))
  return {
    stdio: [stdin, ...ends.map(({ writer }) => writer)],
    connect(child) {
      closeWriters()
      const [stdout, stderr] = ends.map(({ reader }) => listen(reader)) as [Readable, Readable]
      const release = (): void =>
        [stdout, stderr].forEach((stream, index) => pipes[index]!.release(stream.readableEnded))
      return { stdin: child.stdin, stdout, stderr, names: pipes.map(({ name }) => name), release }
    },
    giveUp() {
      closeWriters()
      for (const { reader } of ends) closeSync(reader)
      for (const pipe of pipes) pipe.release(true)
    },
  }
}

// Where no descriptor is left the start of the child fails too, and says so.
function openEnds(
  pipes: readonly NamedPipe[],
): readonly ReturnType<NamedPipe['open']>[] | undefined {
  const ends: ReturnType<NamedPipe['open']>[] = []
  try {
    for (const pipe of pipes) ends.push(pipe.open())
    return ends
  } catch {
    for (const { reader, writer } of ends)
      [reader, writer].forEach((descriptor) => closeSync(descriptor))
    for (const pipe of pipes) pipe.release(true)
    return undefined
  }
}

function connectSockets({ stdin, stdout, stderr }: ChildProcess): Channels {
  return { stdin, stdout: stdout!, stderr: stderr!, names: [], release: () => {} }
}
