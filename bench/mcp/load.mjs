import { readFileSync } from 'node:fs'

/**
 * Keeps `flight` calls in the air for a while; gives calls per second, the middle and the 99th
 * latency in milliseconds, and the server's CPU in µs per call.
 */
export async function load(server, flight, milliseconds) {
  const latencies = []
  const cpuBefore = readCpu(server.pid)
  const begin = performance.now()
  const worker = async () => {
    while (performance.now() - begin < milliseconds) {
      const start = performance.now()
      await server.call((server.next = (server.next ?? 0) + 1))
      latencies.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: flight }, worker))
  const elapsed = performance.now() - begin
  latencies.sort((left, right) => left - right)
  return {
    rate: (latencies.length / elapsed) * 1000,
    p50: latencies[Math.floor(latencies.length / 2)],
    p99: latencies[Math.floor(latencies.length * 0.99)],
    calls: latencies.length,
    cpu: readCpu(server.pid) - cpuBefore,
  }
}

/**
 * Calls until the server's code is compiled well: two thousand calls, or as many as it makes in
 * some seconds.
 */
export async function warmUp(server, flight) {
  const end = performance.now() + 6000
  for (let calls = 0; calls < 2000 && performance.now() < end;)
    calls += (await load(server, flight, 200)).calls
}

/** The middle of the rounds; CPU over all of them, because its clock is coarse. */
export function combine(rounds) {
  const middle = (pick) =>
    rounds.map(pick).sort((left, right) => left - right)[Math.floor(rounds.length / 2)]
  const calls = rounds.reduce((sum, round) => sum + round.calls, 0)
  return {
    rate: middle(({ rate }) => rate),
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    cpu: rounds.reduce((sum, round) => sum + round.cpu, 0) / calls,
  }
}

// Microseconds of user and system time of a process; NaN where there is no /proc.
function readCpu(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return NaN
  }
}
