// The command `toolable` as a program that its own builder has made: <dist>/toolable.cjs and the folder beside it, from <dist>/bin.js.
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
    const argv = [resolve(dist, 'bin.js'), 'build', resolve(dist, 'bin.js'), '--out', resolve(dist), '--portable']
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, { cwd: project, env: { PATH: process.env.PATH, HOME: project }, encoding: 'utf8' })
    if (status !== 0) throw new Error(`toolable could not be built:\n${stdout}${stderr}`)
    const { files, warnings } = JSON.parse(stdout).result
    if (warnings.length > 0 || !files.some((file) => file.endsWith('.cache'))) throw new Error(`toolable was built without what makes it fast:\n${stdout}${stderr}`)
    // npm makes its own starters for Windows.
    rmSync(join(dist, 'toolable.cmd'))
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

// The tool that the rehearsal in src/commands/rehearsal.ts calls.
function writeSample(project) {
  const manifest = { name: 'hello', summary: 'Greet somebody', input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } }
  mkdirSync(join(project, 'tools'))
  writeFileSync(join(project, 'tools/hello.sh'), `#!/bin/sh\n# toolable: ${JSON.stringify(manifest)}\necho '{"text":"Hello"}'\n`, { mode: 0o755 })
}
