import { spawn } from 'node:child_process'

/**
 * Runs node with these arguments, prints how it ended and how long it took, and returns its exit
 * code.
 */
export async function runStep(
  name,
  argv,
  { environment = {}, signal, node = process.execPath } = {},
) {
  const begin = performance.now()
  const child = spawn(node, argv, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
    signal,
  })
  const status = await new Promise((settle) => {
    child.on('error', (error) => {
      if (error.name === 'AbortError') return
      console.error(`${name}: ${error.message}`)
      settle(1)
    })
    child.on('close', (code) => settle(code ?? 1))
  })
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  console.log(`${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`)
  return status
}
