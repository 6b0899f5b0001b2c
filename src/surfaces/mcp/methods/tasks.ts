import { isObject } from '../../../contract/json.ts'
import { describeTask } from '../calls/task.ts'
import { canUseTasks, missingCapability } from '../exchange.ts'
import type { Exchange } from '../exchange.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { TASKS_EXTENSION } from '../wire/versions.ts'
import type { Method } from './method.ts'

export const getTask: Method = ({ calls }, { taskId }, exchange) => {
  demandTasks(exchange)
  return describeTask(calls.task(taskId))
}

export const updateTask: Method = ({ calls }, { taskId, inputResponses }, exchange) => {
  demandTasks(exchange)
  const task = calls.task(taskId)
  if (!isObject(inputResponses))
    throw new RpcError(RPC.invalidParams, 'params.inputResponses is not an object')
  calls.update(task, inputResponses)
  return {}
}

export const cancelTask: Method = ({ calls }, { taskId }, exchange) => {
  demandTasks(exchange)
  calls.cancel(calls.task(taskId))
  return {}
}

/** Throws when the client did not declare the tasks extension. */
export function demandTasks({ caller }: Exchange): void {
  if (!canUseTasks(caller)) throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } })
}
