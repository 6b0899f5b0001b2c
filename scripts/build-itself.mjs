// The command `toolable` as a program that its own builder has made: <dist>/toolable.cjs and the
// folder beside it, from <dist>/bin.js.
// See docs/decisions/2026-11-17-toolable-builds-itself.md.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Builds it into the folder that holds bin.js and everything else. */
export function buildItself(dist) {
  const project = mkdtempSync(join(tmpdir(), 'toolable-itself-'))
  try {
    writeSample(project)
    const bin = resolve(dist, 'bin.js')
    // A registry knows its folder at most starts: what finds tools for the first time is not
    // compiled beforehand.
    run(project, bin, 'list')
    const { files, warnings } = run(
      project,
      bin,
      'build',
      bin,
      '--out',
      resolve(dist),
      '--portable',
    )
    if (warnings.length > 0 || !files.some((file) => file.endsWith('.cache')))
      throw new Error(
        `toolable was built without what makes it fast: ${[...warnings, ...files].join(', ')}`,
      )
    // npm makes its own starters for Windows.
    rmSync(join(dist, 'toolable.cmd'))
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

function run(project, ...argv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: project },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`toolable could not be built:\n${stdout}${stderr}`)
  return JSON.parse(stdout).result
}

// The tool that the rehearsal in src/commands/table.ts calls.
function writeSample(project) {
  const manifest = {
    name: 'hello',
    summary: 'Greet somebody',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  }
  mkdirSync(join(project, 'tools'))
  writeFileSync(join(project, 'toolable.yaml'), 'folders: [./tools]\n')
  writeFileSync(
    join(project, 'tools/hello.sh'),
    `#!/bin/sh\n# toolable: ${JSON.stringify(manifest)}\necho '{"text":"Hello"}'\n`,
    { mode: 0o755 },
  )
}
