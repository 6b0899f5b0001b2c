import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { makeFolder } from '../../support/run-program.ts'
import type { KnownFlag, Truth } from './score.ts'
import { HANG_MS } from '../../support/limits.ts'

// fish and others write into their home, whoever asks.
const HOME = makeFolder()

/** Runs a program and gives what it prints, on both streams, however it ends. */
export function output(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<{ stdout: string; stderr: string }> {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME,
    LC_ALL: 'C.UTF-8',
    LANGUAGE: 'en',
    TERM: 'dumb',
    COLUMNS: '80',
    PAGER: 'cat',
    ...options.env,
  }
  return new Promise((done) => {
    const child = execFile(
      program,
      [...args],
      { env, cwd: options.cwd ?? process.cwd(), maxBuffer: 64 << 20, timeout: HANG_MS },
      (_error, stdout, stderr) => done({ stdout, stderr }),
    )
    child.stdin?.end()
  })
}

/** Runs `work` over the items, a few at a time, keeping their order. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let index = 0; index < items.length; index += 4)
    results.push(...(await Promise.all(items.slice(index, index + 4).map((item) => work(item)))))
  return results
}

/**
 * git tells the completion scripts which long flags each of its commands has, and which need a
 * value.
 */
export async function gitTruths(): Promise<Truth[]> {
  const names = (await output('git', ['--list-cmds=builtins'])).stdout.trim().split('\n')
  const truths = await inTurn(names, async (name): Promise<Truth | undefined> => {
    const [helper, help] = await Promise.all([
      output('git', [name, '--git-completion-helper-all']),
      output('git', [name, '-h']),
    ])
    const flags = helper.stdout
      .trim()
      .split(/\s+/)
      .filter((flag) => /^--\w/.test(flag))
    if (flags.length === 0) return undefined
    return {
      program: `git ${name}`,
      help: help.stdout + help.stderr,
      flags: flags.map((flag) => ({
        name: flag.replace(/=$/, ''),
        takesValue: flag.endsWith('='),
      })),
    }
  })
  return truths.filter((truth) => truth !== undefined)
}

/**
 * Python modules that are run with `-m` build their parsers in front of us: `json.tool`, `pip
 * install`.
 */
export async function argparseTruths(modules: readonly string[]): Promise<Truth[]> {
  const { stdout } = await output('python3', [
    join(import.meta.dirname, 'dump-parsers.py'),
    ...modules,
  ])
  const { parsers } = JSON.parse(stdout.slice(stdout.indexOf('{"parsers"'))) as {
    parsers: { prog: string; help: string; flags: { name: string; value: boolean | null }[] }[]
  }
  return parsers.map(({ prog, help, flags }) => ({
    program: prog,
    help,
    flags: flags.map(({ name, value }): KnownFlag => ({ name, takesValue: value ?? undefined })),
  }))
}

const REQUIRES = /(?:^| )(?:--require-parameter|--exclusive|-r|-x)(?: |$)/

/** What fish knows about a program, from its completion files. */
export async function fishTruth(program: string, helpArgs: readonly string[]): Promise<Truth> {
  const [completions, help] = await Promise.all([
    output('fish', [
      '--no-config',
      '-c',
      `for folder in /usr/share/fish/completions /usr/share/fish/vendor_completions.d; source $folder/${program}.fish 2>/dev/null; end; complete -c ${program}`,
    ]),
    output(program, helpArgs),
  ])
  const flags = new Map<string, KnownFlag>()
  // What holds for some sub-command only is not about the program.
  const lines = completions.stdout
    .split('\n')
    .filter((line) => line.startsWith('complete') && !/ (?:-n|--condition) /.test(line))
  const tellsValues = lines.filter((line) => REQUIRES.test(line)).length * 20 > lines.length
  for (const line of lines) {
    // A file that marks next to no values, and a flag with things to complete but no mark, say
    // nothing about values.
    const takesValue = REQUIRES.test(line)
      ? true
      : tellsValues && !/ (?:-a|--arguments|-F|--force-files) /.test(line)
        ? false
        : undefined
    for (const [, kind, name] of line.matchAll(/ -([slo]) (\S+)/g)) {
      const written = `${kind === 'l' ? '--' : '-'}${name!.replace(/\\(.)/g, '$1').replace(/^'(.*)'$/, '$1')}`
      if (!flags.has(written)) flags.set(written, { name: written, takesValue })
    }
  }
  return { program, help: help.stdout + help.stderr, flags: [...flags.values()] }
}

/** openssl lists the flags of a command with a letter for their type; a dash is a switch. */
export async function opensslTruths(commands: readonly string[]): Promise<Truth[]> {
  return inTurn(commands, async (command) => {
    const [listed, help] = await Promise.all([
      output('openssl', ['list', '-options', command]),
      output('openssl', [command, '-help']),
    ])
    const flags = listed.stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([name]) => name !== undefined && /^\w[\w-]*$/.test(name))
    return {
      program: `openssl ${command}`,
      help: help.stdout + help.stderr,
      flags: flags.map(([name, type]) => ({ name: `-${name}`, takesValue: type !== '-' })),
    }
  })
}
