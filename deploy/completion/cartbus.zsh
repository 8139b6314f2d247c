# The words before the cursor that are no options and no values of options; config is what --config names.
_cartbus_read() {
	local at word takes_value=
	said=() config=
	for ((at = 2; at < CURRENT; at++)); do
		word=${words[at]}
		if [[ -n $takes_value ]]; then
			[[ $takes_value != --config ]] || config=${(Q)word/#\~/$HOME}
			takes_value=
		elif [[ $word == --*=* ]]; then
			[[ $word != --config=* ]] || config=${(Q)word#--config=}
		elif [[ $word == --* ]]; then
			[[ -z $(_cartbus_value "$(_cartbus_subcommand)" $word) ]] || takes_value=$word
		else
			said+=($word)
		fi
	done
	option=$takes_value
}

_cartbus_subcommand() {
	if [[ -n $(_cartbus_options "$said[1] $said[2]") ]]; then
		print -rn -- "$said[1] $said[2]"
	elif [[ -n $(_cartbus_options "$said[1]") ]]; then
		print -rn -- "$said[1]"
	fi
}

_cartbus_offer() {
	case $1 in
	FILE) _files ;;
	DIR) _files -/ ;;
	SHOP) compadd -- ${(f)"$(cartbus --shops ${config:+$config} 2>/dev/null)"} ;;
	*) compadd -- ${=$(_cartbus_values "$1")} ;;
	esac
}

# What can follow what is said, with what it does; of several words the next one.
_cartbus_offer_subcommands() {
	local -a offered
	local line name before="${said[*]}"
	for line in ${(f)"$(_cartbus_summaries)"}; do
		name=${line%%:*}
		[[ -z $before ]] || [[ $name == "$before "* ]] || continue
		[[ -z $before ]] || name=${name#"$before "}
		if [[ $name == *' '* ]]; then
			offered+=("${name%% *}:${name%% *} ...")
		else
			offered+=("$name:${line#*:}")
		fi
	done
	typeset -U offered
	_describe subcommand offered
}

_cartbus_offer_word() {
	local -a kinds=(${=$(_cartbus_kinds "$1")}) name=(${=1})
	_cartbus_offer "$kinds[$#said - $#name + 1]"
}

_cartbus() {
	local -a said options
	local config option subcommand
	_cartbus_read
	subcommand=$(_cartbus_subcommand)
	if [[ -n $option ]]; then
		_cartbus_offer "$(_cartbus_value "$subcommand" $option)"
	elif [[ $PREFIX == --*=* ]]; then
		option=${PREFIX%%=*}
		compset -P '*='
		_cartbus_offer "$(_cartbus_value "$subcommand" $option)"
	elif [[ $PREFIX == -* ]]; then
		options=(${(f)"$(_cartbus_option_help "$subcommand")"})
		_describe option options
	elif [[ -z $subcommand || (${#said} -eq 1 && $'\n'$(_cartbus_subcommands) == *$'\n'"$said[1] "*) ]]; then
		_cartbus_offer_subcommands
		[[ -z $subcommand ]] || _cartbus_offer_word "$subcommand"
	else
		_cartbus_offer_word "$subcommand"
	fi
}

_cartbus "$@"
