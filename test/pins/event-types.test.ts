import { expect, test } from 'vitest'
import {
  PROTOCOL_EVENT_TYPES,
  RUNNER_EVENT_TYPES,
  TASK_EVENT_TYPES,
} from '../../src/protocol/events.ts'

test('a tool may write these lines of the run protocol', () => {
  expect(PROTOCOL_EVENT_TYPES).toEqual([
    'start',
    'progress',
    'heartbeat',
    'action_required',
    'result',
    'error',
    'cancelled',
    'log',
    'artifact',
    'item',
  ])
})

test('only an orchestrator writes these', () => {
  expect(TASK_EVENT_TYPES).toEqual([
    'task_submitted',
    'task_started',
    'task_progress',
    'task_action_required',
    'task_error',
    'task_done',
  ])
})

test('only the runner writes these', () => {
  expect(RUNNER_EVENT_TYPES).toEqual([
    'runner_start',
    'runner_log',
    'diagnostic',
    'runner_warning',
    'runner_error',
    'runner_end',
  ])
})
