import { spawn } from 'node:child_process'

/** Starts node with these arguments, says how it ended and after how long, and gives the exit code. */
export async function runStep(name, argv, { environment = {}, signal } = {}) {
  const begin = performance.now()
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
    signal,
  })
  const status = await new Promise((settle) => {
    child.on('error', ({ name: kind }) => kind === 'AbortError' || settle(1))
    child.on('close', (code) => settle(code ?? 1))
  })
  console.log(
    `${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - begin) / 1000).toFixed(1)} s`,
  )
  return status
}
