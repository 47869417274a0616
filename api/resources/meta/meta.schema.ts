import Joi from 'joi';

export const healthSchema = Joi.object({ status: Joi.valid('ok'), version: Joi.string(), uptime_seconds: Joi.number().integer().min(0) });

const checkSchema = Joi.object({
  name: Joi.valid('database', 'migrations', 'temporal', 'workers_core', 'workers_providers', 'draining', 'outbox', 'clock', 'unknowns'),
  status: Joi.valid('ok', 'warn', 'fail'),
  message: Joi.string(),
  hint: Joi.string().allow(null),
  latency_ms: Joi.number().min(0),
});

export const readySchema = Joi.object({ status: Joi.valid('ready', 'not_ready'), version: Joi.string(), checks: Joi.array().items(checkSchema) });
