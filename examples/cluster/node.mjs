import { spawn } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One node of a Restate cluster on loopback. The first one makes the cluster; every log is kept by
 * two nodes.
 */
export function startNode(program, folder, { number, ports, fabrics }) {
  const home = join(folder, `node-${number}`)
  mkdirSync(home, { recursive: true })
  const log = openSync(join(home, 'log'), 'a')
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    RESTATE_DISABLE_TELEMETRY: 'true',
    DO_NOT_TRACK: '1',
    RESTATE_LOG_FILTER: 'warn',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_CLUSTER_NAME: 'example',
    RESTATE_AUTO_PROVISION: String(number === 1),
    RESTATE_FORCE_NODE_ID: String(number),
    RESTATE_DEFAULT_REPLICATION: '2',
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_METADATA_CLIENT__ADDRESSES: `[${fabrics.map((port) => `"http://127.0.0.1:${port}"`).join(',')}]`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.fabric}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${ports.fabric}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '64MB',
    RESTATE_SHUTDOWN_TIMEOUT: '2s',
  }
  const child = spawn(
    program,
    ['--no-logo', '--node-name', `n${number}`, '--base-dir', join(home, 'data')],
    { env, stdio: ['ignore', log, log] },
  )
  return {
    number,
    child,
    ingress: `http://127.0.0.1:${ports.ingress}`,
    admin: `http://127.0.0.1:${ports.admin}`,
    gone: new Promise((resolve) => child.once('exit', resolve)),
  }
}
