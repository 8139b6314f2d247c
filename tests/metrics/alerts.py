"""Of each alert: series on which it fires, and series close to them on which it does not. promtool's notation, a value a minute.

FIRES[name] = (series it fires on, labels of what fires, series of when it does not, minute to look at)
"""

TARGET = {"job": "cartbus", "instance": "monitor"}


def series(name, values, **labels):
    labels = {**TARGET, **labels}
    return {"series": f"{name}{{{','.join(f'{key}={chr(34)}{value}{chr(34)}' for key, value in labels.items())}}}", "values": values}


def mails(sent, refused):
    return [series("cartbus_mails_total", sent, outcome="sent"), series("cartbus_mails_total", refused, outcome="refused"),
            series("cartbus_mails_total", "0x1500", outcome="ambiguous")]


def stuck(age_s, ready):
    return [series("cartbus_queue_oldest_seconds", f"{age_s}x30", queue="waiter"), series("cartbus_queue_ready_messages", f"{ready}x30", queue="waiter")]


def waits(slow):
    """Ten messages a minute, of which so many take more than ten seconds."""
    made = {"le": ["0.001", "0.01", "0.1", "1", "10", "+Inf"]}
    return [series("cartbus_service_wait_seconds_bucket", f"0+{10 if bound == '+Inf' else 10 - slow}x30", service="sender", process="sender", le=bound)
            for bound in made["le"]]


def requests(all_of_them, bad):
    return [series("cartbus_gateway_requests_total", f"0+{all_of_them}x90", process="gateway"),
            series("cartbus_gateway_bad_signatures_total", f"0+{bad}x90", process="gateway")]


def disk(free_mib):
    return [series("cartbus_log_disk_free_bytes", f"{free_mib << 20}x9"), series("cartbus_log_disk_headroom_bytes", f"{128 << 20}x9")]


FIRES = {
    "CartbusMonitorAway": ([series("up", "0x9")], {}, [series("up", "1x9")], 5),
    "CartbusBrokerAway": ([series("cartbus_broker_up", "0x9")], {}, [series("cartbus_broker_up", "1x9")], 5),
    "CartbusServiceMissing": ([series("cartbus_service_instances", "0x9", service="waiter")], {"service": "waiter"},
                              [series("cartbus_service_instances", "1 1 0 1 1 1 1 1", service="waiter")], 5),
    "CartbusGatewayAway": ([series("cartbus_gateway_up", "0x9", process="gateway-1")], {"process": "gateway-1"},
                           [series("cartbus_gateway_up", "1 1 0 1 1 1 1 1", process="gateway-1")], 5),
    "CartbusSpoolNotEmpty": ([series("cartbus_gateway_spooled_messages", "3x30", process="gateway-1")], {"process": "gateway-1"},
                             [series("cartbus_gateway_spooled_messages", "3x10 0x20", process="gateway-1")], 20),
    "CartbusDeadLetters": ([series("cartbus_queue_dead_letters", "1x9", queue="sender")], {"queue": "sender"},
                           [series("cartbus_queue_dead_letters", "0x9", queue="sender")], 5),
    "CartbusQueuePaused": ([series("cartbus_queue_paused", "1x9", queue="sender")], {"queue": "sender"},
                           [series("cartbus_queue_paused", "0x9", queue="sender")], 5),
    "CartbusQueueStuck": (stuck(1900, 1), {"queue": "waiter"}, stuck(1900, 0), 20),
    "CartbusDecisionsFail": ([series("cartbus_queue_failures_total", "0+1x30", queue="waiter")], {"queue": "waiter"},
                             [series("cartbus_queue_failures_total", "0 1 2 3 4 4x30", queue="waiter")], 20),
    "CartbusMessagesWait": (waits(2), {"service": "sender", "instance": None}, waits(0), 25),
    "CartbusEffectsTimeOut": ([series("cartbus_service_effect_timeouts_total", "0+1x30", service="sender", process="sender")],
                              {"service": "sender", "process": "sender"},
                              [series("cartbus_service_effect_timeouts_total", "0 1 2 2x30", service="sender", process="sender")], 20),
    "CartbusThrottled": ([series("cartbus_service_throttled_total", "0+1x90", service="sender", process="sender", peer="mail")],
                         {"service": "sender", "process": "sender", "peer": "mail"},
                         [series("cartbus_service_throttled_total", "0+1x15 15x90", service="sender", process="sender", peer="mail")], 70),
    "CartbusNothingSent": ([series("cartbus_reminders_oldest_seconds", "1801x9")], {}, [series("cartbus_reminders_oldest_seconds", "1799x9")], 5),
    "CartbusTimersLate": ([series("cartbus_timers_overdue_seconds", "301x9")], {}, [series("cartbus_timers_overdue_seconds", "299x9")], 5),
    "CartbusMailsFail": (mails("0+1x1500", "0 1 2 3 4 4x1500"), {}, mails("0+10x1500", "0 1 2 3 4 4x1500"), 200),
    "CartbusMailAmbiguous": ([series("cartbus_mails_ambiguous_today", "1x9")], {}, [series("cartbus_mails_ambiguous_today", "0x9")], 5),
    "CartbusDiskLow": (disk(383), {}, disk(385), 5),
    "CartbusClockJumped": ([series("cartbus_clock_jump_seconds", "-3600x9")], {}, [series("cartbus_clock_jump_seconds", "0x9")], 5),
    "CartbusSideLogDamaged": ([series("cartbus_side_log_damaged_files", "0 0 1 1 1")], {},
                              [series("cartbus_side_log_damaged_files", "0x9")], 3),
    "CartbusWebhookSecretUnusable": ([series("cartbus_gateway_unusable_secrets", "1x9", process="gateway")], {"process": "gateway"},
                                     [series("cartbus_gateway_unusable_secrets", "0x9", process="gateway")], 5),
    "CartbusConnectionsTurnedAway": ([series("cartbus_broker_connections_turned_away_total", "0 0 0 1 1 1 1 1")], {},
                                     [series("cartbus_broker_connections_turned_away_total", "7x9")], 5),
    "CartbusMailsAside": ([series("cartbus_mailin_aside_mails", "0+1x30", process="mailin")], {"process": "mailin"},
                          [series("cartbus_mailin_aside_mails", "19x30", process="mailin")], 25),
    "CartbusStrangersTurnedAway": ([series("cartbus_gateway_turned_away_total", "0 0 0 1 1 1 1 1", process="gateway")], {"process": "gateway"},
                                   [series("cartbus_gateway_turned_away_total", "7x9", process="gateway")], 5),
    "CartbusWebhooksRefused": ([series("cartbus_gateway_refused_total", "0 0 0 1 1 1 1 1", process="gateway")], {"process": "gateway"},
                               [series("cartbus_gateway_refused_total", "7x9", process="gateway")], 5),
    "CartbusSignatures": (requests(2, 2), {"process": "gateway"}, requests(9, 2), 70),
    "CartbusBudgetNear": ([series("cartbus_budget_used_ratio", "0.8x9")], {}, [series("cartbus_budget_used_ratio", "0.79x9")], 5),
    "CartbusBudgetSpent": ([series("cartbus_budget_used_ratio", "1x9")], {}, [series("cartbus_budget_used_ratio", "0.99x9")], 5),
    "CartbusBackupFailed": ([series("cartbus_backup_failed", "1x9")], {}, [series("cartbus_backup_failed", "0x9")], 5),
    "CartbusBackupOld": ([series("cartbus_backup_last_success_timestamp_seconds", "7200x2999")], {},
                         [series("cartbus_backup_last_success_timestamp_seconds", "7300x2999")], 3001),
    "CartbusBackupUnverified": ([series("cartbus_backup_last_verified_timestamp_seconds", "7200x20299")], {},
                                [series("cartbus_backup_last_verified_timestamp_seconds", "8500x20299")], 20300),
    "CartbusAlarm": ([series("cartbus_alarms_raised", "1x9", kind="storefront")], {"kind": "storefront"},
                     [series("cartbus_alarms_raised", "1 1 1 0 0 0 0 0 0", kind="storefront")], 7),
}


def filled(annotations, labels):
    """As Prometheus fills templates in, of which the rules use one: {{ $labels.name }}."""
    def fill(text):
        for name, value in labels.items():
            text = text.replace("{{ $labels." + name + " }}", value)
        return text
    return {name: fill(text) for name, text in annotations.items()}


def rule_tests(rules, rules_path):
    """A file for `promtool test rules`: a bad and a good day for each alert."""
    tests = []
    for rule in rules:
        bad, more, good, minute = FIRES[rule["alert"]]
        labels = {name: value for name, value in {**TARGET, **more, **rule["labels"]}.items() if value is not None}
        fired = {"exp_labels": labels, "exp_annotations": filled(rule["annotations"], labels)}
        for name, given, expected in (("fires", bad, [fired]), ("is quiet", good, [])):
            tests.append({"name": f"{rule['alert']} {name}", "interval": "1m", "input_series": given, "alert_rule_test": [
                {"eval_time": f"{minute}m", "alertname": rule["alert"], "exp_alerts": expected}]})
    return {"rule_files": [str(rules_path)], "evaluation_interval": "1m", "tests": tests}
